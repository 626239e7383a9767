package cluster

import "syscall"

// dieWithParent has Linux kill a process when this program dies, however that happens. No
// goroutine of it ends while it is locked to its thread, which Linux would take for its death.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

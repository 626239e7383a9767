package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuUsage is the CPU time of processes, and how often one of their threads went to
// sleep.
type cpuUsage struct {
	cpu    time.Duration
	sleeps float64
}

// add adds what a process has used so far, multiplied by times. It does not count
// threads that have ended.
func (u *cpuUsage) add(p *peer, times int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.cmd.Process.Pid))
	for _, task := range tasks {
		ran, _ := os.ReadFile(task + "/schedstat")
		ns, _, _ := strings.Cut(string(ran), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		u.cpu += time.Duration(int64(times) * n)
		status, _ := os.ReadFile(task + "/status")
		_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(after, "\n")
		slept, _ := strconv.ParseFloat(strings.TrimSpace(line), 64)
		u.sleeps += float64(times) * slept
	}
}

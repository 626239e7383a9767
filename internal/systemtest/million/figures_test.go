package million

import (
	"bytes"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"
)

func percentiles(figures map[string]float64, name string, took []time.Duration) {
	slices.Sort(took)
	figures[name+"-p50-ms"] = milliseconds(took[len(took)/2])
	figures[name+"-p99-ms"] = milliseconds(took[len(took)*99/100])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// residentMB returns the process's resident memory in MB after freeing what can
// be freed.
func residentMB() float64 {
	for range 2 { // what a pool has is collected the second time
		debug.FreeOSMemory()
	}
	return statusMB("VmRSS:")
}

// cpuTime returns the processor time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// statusMB returns a field of /proc/self/status, in MB.
func statusMB(field string) float64 {
	raw, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(raw, []byte(field))
	kb, _ := strconv.ParseFloat(string(bytes.Fields(append(after, " 0"...))[0]), 64)
	return kb / 1024
}

// must returns v. It panics if err isn't nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

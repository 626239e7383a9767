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

// residentMB is the process's resident memory in MB, after what is free was given
// back. What the log's engine keeps in pools goes at the third collection.
func residentMB() float64 {
	for range 3 {
		debug.FreeOSMemory()
	}
	return statusMB("VmRSS:")
}

// cpuTime is the processor time that the process has taken.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// statusMB is a field of the process's status, in MB.
func statusMB(field string) float64 {
	raw, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(raw, []byte(field))
	kb, _ := strconv.ParseFloat(string(bytes.Fields(append(after, " 0"...))[0]), 64)
	return kb / 1024
}

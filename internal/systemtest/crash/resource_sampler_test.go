//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// A resourceSampler measures the resources of a program.
type resourceSampler struct {
	program         *program
	http            *http.Client
	began           time.Time
	sampledAt       []time.Duration
	series          []*resourceSeries
	goroutinesError string // why goroutines aren't measured, or ""
}

func newResourceSampler(p *program) *resourceSampler {
	return &resourceSampler{program: p, http: http.DefaultClient, began: time.Now(), series: []*resourceSeries{
		{name: "resident MB", unit: 1 << 20, slack: 16 << 20},
		{name: "goroutines", unit: 1, slack: 200},
		{name: "disk MB", unit: 1 << 20, slack: 24 << 20}, // three of the log's blocks
		{name: "files on disk", unit: 1, slack: 100},
		{name: "open files", unit: 1, slack: 100},
	}}
}

// sample measures all resources now.
func (l *resourceSampler) sample() error {
	proc := fmt.Sprintf("/proc/%d", l.program.cmd.Process.Pid)
	raw, err := os.ReadFile(proc + "/statm")
	if err != nil {
		return err
	}
	var size, resident float64
	if _, err := fmt.Sscan(string(raw), &size, &resident); err != nil {
		return err
	}
	open, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return err
	}
	disk, files := diskUsage(l.program.data)
	goroutines, err := l.readGoroutines()
	if err != nil {
		l.goroutinesError = err.Error()
	}
	l.sampledAt = append(l.sampledAt, time.Since(l.began))
	for i, v := range []float64{resident * float64(os.Getpagesize()), goroutines, disk, files, float64(len(open))} {
		l.series[i].values = append(l.series[i].values, v)
	}
	return nil
}

// diskUsage returns the size of a folder on the disk and its number of files.
func diskUsage(dir string) (bytes, files float64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed in the meantime
		}
		if info, err := d.Info(); err == nil {
			bytes += float64(info.Sys().(*syscall.Stat_t).Blocks) * 512
			files++
		}
		return nil
	})
	return bytes, files
}

// readGoroutines reads the number of goroutines from the program's metrics.
func (l *resourceSampler) readGoroutines() (float64, error) {
	r, err := l.http.Get("http://" + l.program.addr + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("/metrics: %s, %v", r.Status, err)
	}
	var n float64
	_, line, found := bytes.Cut(body, []byte("\ngo_goroutines "))
	if !found {
		return 0, fmt.Errorf("/metrics has no go_goroutines")
	}
	_, err = fmt.Sscan(string(line), &n)
	return n, err
}

// table returns a table with about twenty of the samples and the growth of each
// resource.
func (l *resourceSampler) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\n\t")
	for _, v := range l.series {
		fmt.Fprint(w, v.name, "\t")
	}
	every := max(1, len(l.sampledAt)/20)
	for i, at := range l.sampledAt {
		if i%every != 0 && i != len(l.sampledAt)-1 {
			continue
		}
		fmt.Fprint(w, "\n", at.Round(time.Second), "\t")
		for _, v := range l.series {
			fmt.Fprintf(w, "%.0f\t", v.values[i]/v.unit)
		}
	}
	fmt.Fprint(w, "\nrise over the second half\t")
	for _, v := range l.series {
		by, _ := v.growth()
		fmt.Fprintf(w, "%.1f\t", by/v.unit)
	}
	fmt.Fprintln(w)
	w.Flush()
	return b.String()
}

package datacmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/programdigest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/store"
)

// Rehearse says which unfinished runs would go on with a program.
type Rehearse struct {
	Program string `arg:"" optional:"" help:"The program to rehearse on, such as a new build. Without it, this one."`
	Backup  string `env:"-" placeholder:"FILE" help:"Rehearse the runs of a backup; - is stdin."`
	Server  string `placeholder:"URL" help:"Rehearse the runs of the Beam at this address, whose operator you are. What a run was given as a secret or a file isn't sent, so it may not be known whether it would go on."`
	Token   string `placeholder:"SECRET" help:"The token of that Beam. Set it as $$BEAM_TOKEN to keep it out of the list of processes."`
	Runs    bool   `env:"-" hidden:"" help:"Read the runs from stdin, as another program writes them."`
	Output  string `env:"-" enum:"text,json" default:"text" help:"How to print the result: text or json."`
	Root    string `placeholder:"DIR" type:"path" help:"A folder that photons may read. By default, none."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*Rehearse) Help() string {
	return "It replays every unfinished durable run on the program, up to where its log ends. No step runs, nothing is recorded, and runs in progress aren't stopped; " +
		"but the photons' code outside of steps runs. A run that doesn't fit the program would be parked: " +
		"nobody could answer its questions until a program comes that fits. The exit status is 1 if there is any.\n\n" +
		"    ${program} rehearse ./new-build\n    ${program} rehearse --backup monday.backup ./new-build"
}

// Run rehearses, and prints which runs would be parked.
func (c *Rehearse) Run(ctx context.Context, p *command.Program) error {
	switch {
	case c.Runs:
		return c.rehearseStream(ctx, p, p.Stdin)
	case c.Backup != "":
		in, err := openBackup(p, c.Backup)
		if err != nil {
			return err
		}
		defer in.Close()
		return c.rehearseBackup(ctx, p, in)
	case c.Server != "":
		remote := runs.Remote{Base: strings.TrimRight(c.Server, "/"), Token: c.Token, Client: http.DefaultClient}
		in, err := remote.UnfinishedRuns(ctx)
		if err != nil {
			return err
		}
		defer in.Close()
		return c.rehearseFrom(ctx, p, in)
	}
	return c.UseFolder(ctx, app.RequestUnfinished, nil,
		func(conn *controlsocket.Conn) error { return c.rehearseFrom(ctx, p, conn) },
		func(f *datafolder.Folder) error { return c.rehearseFolder(ctx, p, f) })
}

// rehearseFrom rehearses the runs that another process writes, on whichever program.
func (c *Rehearse) rehearseFrom(ctx context.Context, p *command.Program, r io.Reader) error {
	if c.Program != "" {
		return c.rehearseOn(ctx, p, r)
	}
	return c.rehearseStream(ctx, p, r)
}

// rehearseBackup rehearses the runs of a backup, which it restores to a temporary folder.
func (c *Rehearse) rehearseBackup(ctx context.Context, p *command.Program, r io.Reader) error {
	temporary, err := os.MkdirTemp("", "beam-rehearsal-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	dir := filepath.Join(temporary, "data")
	sum, _, err := datafolder.Restore(ctx, dir, r, false, command.NewWarningLogger(p))
	if err != nil {
		return err
	}
	if err := describeMissing(p.Stderr, sum); err != nil {
		return err
	}
	folder, err := datafolder.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(c.rehearseFolder(ctx, p, folder), folder.Close())
}

// rehearseFolder rehearses the runs of a folder that this process owns.
func (c *Rehearse) rehearseFolder(ctx context.Context, p *command.Program, f *datafolder.Folder) error {
	logger := command.NewWarningLogger(p)
	return f.WithStore(ctx, logger, func(s *store.Store) error {
		e := engine.New(engine.Options{Photons: p.Registry, Log: s, Blobs: f.Blobs, KeyDir: f.KeyDir(), Logger: logger})
		r, w := io.Pipe()
		var writer sync.WaitGroup
		writer.Go(func() { w.CloseWithError(runs.WriteUnfinishedRuns(ctx, w, e, true)) })
		defer writer.Wait() // it reads the store
		defer r.Close()
		return c.rehearseFrom(ctx, p, r)
	})
}

// rehearseOn lets another program rehearse the runs that a process writes.
func (c *Rehearse) rehearseOn(ctx context.Context, p *command.Program, r io.Reader) error {
	program, err := exec.LookPath(c.Program)
	if err != nil {
		return command.UsageErrorf("there is no such program: %s", c.Program)
	}
	var printed bytes.Buffer
	other := exec.CommandContext(ctx, program, "rehearse", "--runs", "--output", "json")
	if c.Root != "" {
		other.Args = append(other.Args, "--root", c.Root)
	}
	other.Stdin, other.Stdout, other.Stderr = r, &printed, p.Stderr
	err = other.Run()
	var report rehearsalReport
	if e := json.Unmarshal(printed.Bytes(), &report); e != nil || report.Photons == nil {
		return fmt.Errorf("%s did not rehearse: is it a Beam program, and new enough? %w", c.Program, cmp.Or(err, errors.New("it printed no result")))
	}
	return report.finish(p, c.Output)
}

// rehearseStream rehearses the runs that another process writes on this program.
func (c *Rehearse) rehearseStream(ctx context.Context, p *command.Program, r io.Reader) error {
	total, unfinished, err := runs.ReadUnfinishedRuns(r)
	if err != nil {
		return err
	}
	return c.rehearse(ctx, p, total, unfinished)
}

// rehearse rehearses runs, about total of them, on this program.
func (c *Rehearse) rehearse(ctx context.Context, p *command.Program, total int, unfinished iter.Seq2[rehearsal.UnfinishedRun, error]) error {
	report := rehearsalReport{Photons: make(map[string]*rehearsedPhoton)}
	done, progress := 0, p.CopyProgress()
	if progress == nil {
		progress = func(int, int) {}
	}
	p.Messagef("steps don't run, but the code of photons outside of steps does")
	program := engine.NewProgram(engine.Options{Photons: p.Registry, Program: programdigest.Get, Root: c.Root})
	err := program.RehearseAll(ctx, unfinished, func(o rehearsal.Outcome) {
		report.add(o)
		if done++; done%64 == 0 {
			progress(done, max(total, done+1))
		}
	})
	progress(total, total)
	if err != nil {
		return err
	}
	return report.finish(p, c.Output)
}

// A rehearsalReport is what was found out about all runs.
type rehearsalReport struct {
	GoOn    int                         `json:"goOn"`
	Parked  int                         `json:"parked"`
	Photons map[string]*rehearsedPhoton `json:"photons"`
}

// A rehearsedPhoton is what was found out about the runs of a photon.
type rehearsedPhoton struct {
	GoOn      int             `json:"goOn"`
	Undecided int             `json:"undecided"` // of those that go on
	Parked    int             `json:"parked"`
	Causes    []*parkingCause `json:"causes,omitempty"`
}

// A parkingCause is why some runs of a photon would be parked.
type parkingCause struct {
	Reason runlog.ParkedReason `json:"reason"`
	Detail string              `json:"detail"`
	Count  int                 `json:"count"`
	Runs   []string            `json:"runs"` // some of them
}

// What bounds a report: how many causes it has of a photon, and how many runs of a cause.
const (
	maxCauses    = 20
	maxCauseRuns = 5
)

// moreCauses is the detail for all causes beyond maxCauses.
const moreCauses = "further differences"

func (h *rehearsalReport) add(r rehearsal.Outcome) {
	p := h.Photons[r.Photon]
	if p == nil {
		p = new(rehearsedPhoton)
		h.Photons[r.Photon] = p
	}
	if r.Parked == nil {
		h.GoOn++
		p.GoOn++
		if r.Undecided {
			p.Undecided++
		}
		return
	}
	h.Parked++
	p.Parked++
	detail := r.Parked.Detail
	find := func() int {
		return slices.IndexFunc(p.Causes, func(c *parkingCause) bool { return c.Reason == r.Parked.Reason && c.Detail == detail })
	}
	i := find()
	if i < 0 && len(p.Causes) >= maxCauses {
		detail = moreCauses
		i = find()
	}
	if i < 0 {
		i = len(p.Causes)
		p.Causes = append(p.Causes, &parkingCause{Reason: r.Parked.Reason, Detail: detail})
	}
	c := p.Causes[i]
	if c.Count++; len(c.Runs) < maxCauseRuns {
		c.Runs = append(c.Runs, r.Run)
	}
}

// finish prints the report, and returns an error if a run would be parked.
func (h *rehearsalReport) finish(p *command.Program, output string) error {
	if err := h.print(p, output); err != nil {
		return err
	}
	if h.Parked > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// print prints the report to stdout.
func (h *rehearsalReport) print(p *command.Program, output string) error {
	for _, photon := range h.Photons {
		slices.SortFunc(photon.Causes, func(a, b *parkingCause) int {
			return cmp.Or(b.Count-a.Count, strings.Compare(a.Detail, b.Detail))
		})
	}
	if output == "json" {
		return command.PrintJSON(p, h)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h.Photons)) {
		photon := h.Photons[name]
		fmt.Fprintf(&text, "%s: %s would go on", name, humanize.Count(photon.GoOn, "run"))
		if photon.Undecided > 0 {
			fmt.Fprintf(&text, " (of %s, that isn't known for sure: steps would have to run, or the code outside of steps takes long)", humanize.Thousands(photon.Undecided))
		}
		if photon.Parked > 0 {
			fmt.Fprintf(&text, ", %s would be parked", humanize.Thousands(photon.Parked))
		}
		text.WriteString("\n")
		for _, c := range photon.Causes {
			fmt.Fprintf(&text, "  %s, %s (%s): %s\n", c.Reason, humanize.Count(c.Count, "run"), describeRuns(c), c.Detail)
		}
	}
	fmt.Fprintf(&text, "In all, %s would go on, and %s would be parked. Nothing was changed.\n", humanize.Count(h.GoOn, "run"), humanize.Thousands(h.Parked))
	_, err := io.WriteString(p.Stdout, cleantext.Text(text.String()))
	return err
}

// describeRuns names some of the runs of a cause.
func describeRuns(c *parkingCause) string {
	names := strings.Join(c.Runs, ", ")
	if c.Count > len(c.Runs) {
		names += ", …"
	}
	return names
}

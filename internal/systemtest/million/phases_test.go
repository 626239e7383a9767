package million

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// waiterPhoton asks twice, with a step between.
var waiterPhoton = generators.New("waiter", func(_ context.Context, in input, yield generators.Yield) (string, error) {
	name, err := ask.Text(yield, "name", "Who shall have "+in.What+"?", ask.Timeout(30*24*time.Hour))
	if err != nil {
		return "", err
	}
	if _, err := generators.Step(yield, "reserve", func(context.Context) (string, error) { return "r-" + name, nil }); err != nil {
		return "", err
	}
	sure, err := ask.Confirm(yield, "sure", "Give it to "+name+"?", ask.Timeout(30*24*time.Hour))
	return fmt.Sprint(name, sure), err
}, &generators.Options{Title: "Waiter", Durable: true})

type input struct {
	What string `json:"what"`
}

// A phase is the work of one process. It prints its measurements as JSON to its
// standard output.
type phase struct {
	dir         string
	runs        int
	maxResident int // how many may wait in memory
	log         *store.Store
	engine      *engine.Engine
	figures     map[string]float64
}

func runPhase(name, dir string, n int) error {
	p := &phase{dir: dir, runs: n, maxResident: 250, figures: make(map[string]float64)}
	limits := engine.Limits{MaxActivePerOwner: n + 1, Working: budget.Limit{Each: int64(n), All: int64(n)}}
	if name == "resident" {
		p.maxResident, limits.EvictAfter = n+1, time.Hour
	}
	limits.MaxResident = p.maxResident
	if err := p.openEngine(limits); err != nil {
		return err
	}
	switch name {
	case "filled", "resident":
		if err := p.startRuns(); err != nil {
			return err
		}
		return p.closeAndExit()
	case "restarted":
		if err := p.answerSample(); err != nil {
			return err
		}
		return p.killProcess()
	case "killed":
		if err := p.checkRecovered(); err != nil {
			return err
		}
		return p.closeAndExit()
	}
	return fmt.Errorf("unknown phase %q", name)
}

// openEngine opens an engine on the folder.
func (p *phase) openEngine(limits engine.Limits) error {
	began := time.Now()
	photons, err := registry.NewRegistry(waiterPhoton)
	if err != nil {
		return err
	}
	blobs, err := blob.Open(filepath.Join(p.dir, "blobs"))
	if err != nil {
		return err
	}
	if p.log, err = store.Open(context.Background(), store.Options{Dir: p.dir}); err != nil {
		return err
	}
	p.figures["open-ms"] = milliseconds(time.Since(began))
	p.engine = engine.New(engine.Options{
		Photons: photons, Log: p.log, Blobs: blobs, Limits: limits,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err := p.engine.Recover(context.Background()); err != nil {
		return err
	}
	p.figures["ready-ms"], p.figures["ready-cpu-ms"] = milliseconds(time.Since(began)), milliseconds(cpuTime())
	p.figures["empty-MB"] = residentMB()
	return nil
}

// ownerCount is the number of owners that share the runs.
const ownerCount = 100

func ownerOf(i int) generators.Caller {
	return generators.Caller{ID: fmt.Sprintf("session:%032d", i%ownerCount)}
}

// countWaiting returns the number of waiting runs.
func (p *phase) countWaiting() (n int) {
	for i := range ownerCount {
		n += must(p.engine.CountOpenAsks(ownerOf(i)))
	}
	return n
}

// waitForAll returns an error unless all runs wait within a minute.
func (p *phase) waitForAll() error {
	if !programtest.Poll(func() bool { return p.countWaiting() == p.runs }) {
		return fmt.Errorf("%d of %d runs wait", p.countWaiting(), p.runs)
	}
	return nil
}

// startRuns starts the runs and waits until all of them wait for an answer.
func (p *phase) startRuns() error {
	const writers = 8
	began := time.Now()
	failed := make(chan error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < p.runs; i += writers {
				args := json.RawMessage(fmt.Sprintf(`{"what":"number %d"}`, i))
				if _, err := p.engine.Start(context.Background(), ownerOf(i), engine.StartRequest{Photon: "waiter", Args: args, Surface: "http"}); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	if err := p.waitForAll(); err != nil {
		return err
	}
	p.figures["runs/s"] = float64(p.runs) / time.Since(began).Seconds()
	if !programtest.Poll(func() bool { return must(p.engine.Counts()).Resident <= p.maxResident }) {
		return fmt.Errorf("%d runs are resident, and not evicted", must(p.engine.Counts()).Resident)
	}
	return nil
}

// asksFile is the path of a file with the asks that are open when the process
// is killed, of runs that had been answered.
func (p *phase) asksFile() string { return filepath.Join(p.dir, "asks.json") }

// answerSample answers random runs, first one at a time and then many at once,
// and measures the lists.
func (p *phase) answerSample() error {
	if err := p.waitForAll(); err != nil {
		return err
	}
	p.figures["resident-MB"] = residentMB()
	runs := p.pickRuns(min(p.runs/10, 6000))
	third := len(runs) / 3
	var asks []string
	for _, part := range []struct {
		name  string
		runs  []pickedRun
		width int
	}{{"answered", runs[:third], 1}, {"answered-by-32", runs[third:], 32}} {
		began := time.Now()
		next, err := p.answerRuns(part.runs, part.name, part.width)
		if err != nil {
			return err
		}
		p.figures[part.name+"/s"] = float64(len(part.runs)) / time.Since(began).Seconds()
		asks = append(asks, next...)
	}
	p.figures["answering-MB"] = statusMB("VmRSS:")
	p.measureLists()
	raw, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	return os.WriteFile(p.asksFile(), raw, 0o600)
}

// A pickedRun is a run to answer.
type pickedRun struct {
	caller generators.Caller
	id     string
}

// pickRuns picks n distinct random runs that have not been answered.
func (p *phase) pickRuns(n int) []pickedRun {
	var all []pickedRun
	for i := range ownerCount {
		for _, r := range must(p.engine.Runs(ownerOf(i), 0, func(r engine.Info) bool { return r.LastSeq == firstAskSeq && rand.IntN(p.runs) < 2*n })) {
			all = append(all, pickedRun{ownerOf(i), r.ID})
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// answerRuns answers runs, width at a time, and measures the time until each
// asks its next question. It returns those questions' ids.
func (p *phase) answerRuns(runs []pickedRun, name string, width int) ([]string, error) {
	took, asks := make([]time.Duration, len(runs)), make([]string, len(runs))
	failed := make(chan error, width)
	var wg sync.WaitGroup
	for w := range width {
		wg.Go(func() {
			for i := w; i < len(runs); i += width {
				began := time.Now()
				next, err := p.answerAndFollow(runs[i])
				if err != nil {
					failed <- err
					return
				}
				took[i], asks[i] = time.Since(began), next
			}
		})
	}
	wg.Wait()
	close(failed)
	percentiles(p.figures, name, took)
	return asks, <-failed
}

// firstAskSeq is the ordinal of every run's first question.
const firstAskSeq = 3

// answerAndFollow answers a run and follows it to its next question.
func (p *phase) answerAndFollow(r pickedRun) (string, error) {
	answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	if err := p.engine.Answer(context.Background(), r.caller, runlog.AskID(r.id, firstAskSeq), answer, "http"); err != nil {
		return "", err
	}
	batches, err := p.engine.Follow(context.Background(), r.caller, r.id, firstAskSeq)
	if err != nil {
		return "", err
	}
	for batch, err := range batches {
		if err != nil {
			return "", err
		}
		for _, e := range batch {
			if e.Kind == runlog.KindAsked {
				return runlog.AskID(r.id, e.Seq), nil
			}
		}
	}
	return "", fmt.Errorf("run %s ended", r.id)
}

// measureLists measures pages of 50 items.
func (p *phase) measureLists() {
	var runs, inbox []time.Duration
	for i := range ownerCount {
		began := time.Now()
		must(p.engine.Runs(ownerOf(i), 50, nil))
		runs = append(runs, time.Since(began))
		began = time.Now()
		must(p.engine.Inbox(ownerOf(i), 50))
		inbox = append(inbox, time.Since(began))
	}
	percentiles(p.figures, "page-of-runs", runs)
	percentiles(p.figures, "page-of-asks", inbox)
}

// checkRecovered checks that every run waits, and that those that were answered
// wait at their second question.
func (p *phase) checkRecovered() error {
	if err := p.waitForAll(); err != nil {
		return err
	}
	raw, err := os.ReadFile(p.asksFile())
	if err != nil {
		return err
	}
	var asks []string
	if err := json.Unmarshal(raw, &asks); err != nil {
		return err
	}
	who := generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}
	for _, id := range asks {
		if open, err := p.engine.OpenAsk(context.Background(), who, id); err != nil || open.Key != "sure" {
			return fmt.Errorf("the question %s, which was open before the kill: %v, %v", id, open, err)
		}
	}
	return nil
}

// closeAndExit closes the engine, prints the measurements and exits.
func (p *phase) closeAndExit() error {
	p.figures["resident-MB"] = residentMB()
	began := time.Now()
	var err error
	// Close gives generators two seconds to return; on a busy machine, they get more here.
	if !programtest.Poll(func() bool { err = p.engine.Close(context.Background()); return err == nil }) {
		return err
	}
	if err := p.log.Close(); err != nil {
		return err
	}
	p.figures["close-ms"] = milliseconds(time.Since(began))
	if err := p.printFigures(); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// killProcess prints the measurements and kills the process.
func (p *phase) killProcess() error {
	if err := p.printFigures(); err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {}
}

func (p *phase) printFigures() error {
	p.figures["at-most-MB"] = statusMB("VmHWM:")
	return json.NewEncoder(os.Stdout).Encode(p.figures)
}

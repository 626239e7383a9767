package million

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/log/jetstream"
	"github.com/photon-beam/beam/internal/run"
)

// waiter asks twice, with a step between.
var waiter = generators.New("waiter", func(_ context.Context, in input, yield generators.Yield) (string, error) {
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

// A phase is one process's work. It says what it measured as JSON on its
// standard output.
type phase struct {
	dir     string
	n       int
	hot     int // how many may wait in memory
	log     *jetstream.Log
	engine  *run.Engine
	figures map[string]float64
}

func perform(name, dir string, n int) error {
	p := &phase{dir: dir, n: n, hot: 250, figures: make(map[string]float64)}
	limits := run.Limits{Active: n + 1}
	if name == "hot" {
		p.hot, limits.HotFor = n+1, time.Hour
	}
	limits.HotMax = p.hot
	if err := p.open(limits); err != nil {
		return err
	}
	switch name {
	case "filled", "hot":
		if err := p.fill(); err != nil {
			return err
		}
		return p.end()
	case "restarted":
		if err := p.use(); err != nil {
			return err
		}
		return p.kill()
	case "killed":
		if err := p.check(); err != nil {
			return err
		}
		return p.end()
	}
	return fmt.Errorf("there is no phase %q", name)
}

// open brings the engine up on the folder.
func (p *phase) open(limits run.Limits) error {
	began := time.Now()
	photons, err := generators.NewRegistry(waiter)
	if err != nil {
		return err
	}
	blobs, err := blob.Open(filepath.Join(p.dir, "blobs"))
	if err != nil {
		return err
	}
	if p.log, err = jetstream.Open(context.Background(), jetstream.Options{Dir: filepath.Join(p.dir, "log")}); err != nil {
		return err
	}
	p.figures["open-ms"] = ms(time.Since(began))
	p.engine = run.New(run.Options{
		Photons: photons, Log: p.log, Blobs: blobs, Limits: limits,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err := p.engine.Recover(context.Background()); err != nil {
		return err
	}
	p.figures["ready-ms"], p.figures["ready-cpu-ms"] = ms(time.Since(began)), ms(spent())
	p.figures["empty-MB"] = resident()
	return nil
}

// owners share the runs.
const owners = 100

func owner(i int) run.Caller { return run.Caller{fmt.Sprintf("session:%032d", i%owners)} }

// waiting counts the runs that wait.
func (p *phase) waiting() (n int) {
	for i := range owners {
		n += p.engine.OpenAsks(owner(i))
	}
	return n
}

// all is an error unless all runs wait, within a while.
func (p *phase) all() error {
	err := until(func() bool { return p.waiting() == p.n })
	if err != nil {
		return fmt.Errorf("%d of %d runs wait", p.waiting(), p.n)
	}
	return nil
}

// until waits for what an engine tells nobody of. It is an error if that takes
// long.
func until(there func() bool) error {
	for end := time.Now().Add(time.Minute); !there(); {
		if time.Now().After(end) {
			return errors.New("a minute was not enough")
		}
		time.Sleep(time.Millisecond) // there is no event to wait for
	}
	return nil
}

// fill starts the runs, and waits until they do.
func (p *phase) fill() error {
	const writers = 8
	began := time.Now()
	failed := make(chan error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < p.n; i += writers {
				args := json.RawMessage(fmt.Sprintf(`{"what":"number %d"}`, i))
				if _, err := p.engine.Start(context.Background(), owner(i), run.Request{Photon: "waiter", Args: args, Surface: "http"}); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	if err := p.all(); err != nil {
		return err
	}
	p.figures["runs/s"] = float64(p.n) / time.Since(began).Seconds()
	return until(func() bool { return p.engine.Counts().Hot <= p.hot }) // those that are too many are let go
}

// file has the asks that were open when the process was killed, of runs that
// had been answered.
func (p *phase) file() string { return filepath.Join(p.dir, "asks.json") }

// use answers runs at random: one after the other, and many at once. Then it
// looks at lists.
func (p *phase) use() error {
	if err := p.all(); err != nil {
		return err
	}
	p.figures["resident-MB"] = resident()
	runs := p.sample(min(p.n/10, 6000))
	third := len(runs) / 3
	var asks []string
	for _, part := range []struct {
		name  string
		runs  []picked
		width int
	}{{"answered", runs[:third], 1}, {"answered-by-32", runs[third:], 32}} {
		began := time.Now()
		next, err := p.answer(part.runs, part.name, part.width)
		if err != nil {
			return err
		}
		p.figures[part.name+"/s"] = float64(len(part.runs)) / time.Since(began).Seconds()
		asks = append(asks, next...)
	}
	p.figures["answering-MB"] = memory("VmRSS:")
	p.lists()
	raw, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	return os.WriteFile(p.file(), raw, 0o600)
}

// picked is a run that is to be answered.
type picked struct {
	who run.Caller
	id  string
}

// sample picks so many runs at random, each once, that nobody has answered yet.
func (p *phase) sample(n int) []picked {
	var all []picked
	for i := range owners {
		for _, r := range p.engine.Runs(owner(i), 0, func(r run.Info) bool { return r.Last == first && rand.IntN(p.n) < 2*n }) {
			all = append(all, picked{owner(i), r.ID})
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// answer answers runs, so many at once, and measures how long it takes until
// each asks its next question. It returns those.
func (p *phase) answer(runs []picked, name string, width int) ([]string, error) {
	took, asks := make([]time.Duration, len(runs)), make([]string, len(runs))
	failed := make(chan error, width)
	var all sync.WaitGroup
	for w := range width {
		all.Go(func() {
			for i := w; i < len(runs); i += width {
				began := time.Now()
				next, err := p.goOn(runs[i])
				if err != nil {
					failed <- err
					return
				}
				took[i], asks[i] = time.Since(began), next
			}
		})
	}
	all.Wait()
	close(failed)
	percentiles(p.figures, name, took)
	return asks, <-failed
}

// first is the ordinal of every run's first question.
const first = 3

// goOn answers a run and follows it to its next question.
func (p *phase) goOn(r picked) (string, error) {
	answer := ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	if err := p.engine.Answer(context.Background(), r.who, log.AskID(r.id, first), answer, "http"); err != nil {
		return "", err
	}
	batches, err := p.engine.Follow(context.Background(), r.who, r.id, first)
	if err != nil {
		return "", err
	}
	for batch, err := range batches {
		if err != nil {
			return "", err
		}
		for _, e := range batch {
			if e.Kind == log.KindAsked {
				return log.AskID(r.id, e.Seq), nil
			}
		}
	}
	return "", fmt.Errorf("run %s ended", r.id)
}

// lists measures pages of 50.
func (p *phase) lists() {
	var runs, inbox []time.Duration
	for i := range owners {
		began := time.Now()
		p.engine.Runs(owner(i), 50, nil)
		runs = append(runs, time.Since(began))
		began = time.Now()
		p.engine.Inbox(owner(i), 50)
		inbox = append(inbox, time.Since(began))
	}
	percentiles(p.figures, "page-of-runs", runs)
	percentiles(p.figures, "page-of-asks", inbox)
}

// check finds every run waiting, those that were answered at their second
// question.
func (p *phase) check() error {
	if err := p.all(); err != nil {
		return err
	}
	raw, err := os.ReadFile(p.file())
	if err != nil {
		return err
	}
	var asks []string
	if err := json.Unmarshal(raw, &asks); err != nil {
		return err
	}
	var who run.Caller
	for i := range owners {
		who = append(who, owner(i)...)
	}
	for _, id := range asks {
		if open, err := p.engine.Ask(context.Background(), who, id); err != nil || open.Key != "sure" {
			return fmt.Errorf("the question %s, which was open before the kill: %v, %v", id, open, err)
		}
	}
	return nil
}

// end says what was measured, and closes.
func (p *phase) end() error {
	p.figures["resident-MB"] = resident()
	began := time.Now()
	if err := p.engine.Close(context.Background()); err != nil {
		return err
	}
	if err := p.log.Close(); err != nil {
		return err
	}
	p.figures["close-ms"] = ms(time.Since(began))
	if err := p.say(); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// kill says what was measured, and ends without another word.
func (p *phase) kill() error {
	if err := p.say(); err != nil {
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

func (p *phase) say() error {
	p.figures["at-most-MB"] = memory("VmHWM:")
	return json.NewEncoder(os.Stdout).Encode(p.figures)
}

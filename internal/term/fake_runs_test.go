package term

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// fakeRuns is one run whose log the test writes.
type fakeRuns struct {
	mu        sync.Mutex
	entries   chan []runlog.Entry
	seq       uint64
	answered  []runs.Answer
	cancelled int
	others    string  // who is to answer, if that isn't the person at the terminal
	refuse    []error // what the next answers are refused with
	models    []sampling.ModelDescription
	phase     sampling.Phase
	settled   bool // before its models are asked for
	approved  []sampling.Decision
}

func newFakeRuns() *fakeRuns { return &fakeRuns{entries: make(chan []runlog.Entry, 100)} }

// append appends an entry and returns its ordinal.
func (f *fakeRuns) append(kind runlog.Kind, data any) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	e := runlog.NewEntry(kind, data)
	e.Seq, e.Time = f.seq, time.Now()
	f.entries <- []runlog.Entry{e}
	return f.seq
}

func (f *fakeRuns) askQuestion(key string, kind askdata.Kind) uint64 {
	q := &askdata.Question{Kind: kind, NotCaller: f.others != "", Message: key + "?", Fields: askdata.Fields{{Name: key, Type: "string", Required: true}}}
	return f.append(runlog.KindAsked, runlog.Asked{Key: key, Question: q})
}

func (f *fakeRuns) Follow(ctx context.Context, _ string, _ uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for {
			select {
			case batch := <-f.entries:
				if !yield(batch, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (f *fakeRuns) Answer(_ context.Context, askID string, a runs.Answer) error {
	_, seq, _ := runlog.SplitAskID(askID)
	f.mu.Lock()
	f.answered = append(f.answered, a)
	if len(f.refuse) > 0 {
		err := f.refuse[0]
		f.refuse = f.refuse[1:]
		f.mu.Unlock()
		return err
	}
	f.mu.Unlock()
	f.append(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Surface: runs.Surface, Answer: askdata.Answer{Action: a.Action, Content: a.Content}})
	return nil
}

func (f *fakeRuns) Cancel(context.Context, string) error {
	f.mu.Lock()
	f.cancelled++
	f.mu.Unlock()
	f.append(runlog.KindFinished, runlog.Finished{Status: runlog.Stopped, Surface: runs.Surface})
	return nil
}

func (f *fakeRuns) Models(context.Context, string) (sampling.Description, error) {
	if f.settled {
		return sampling.Description{}, engine.ErrSettled
	}
	return sampling.Description{Models: f.models, Phase: f.phase}, nil
}

func (f *fakeRuns) Approve(_ context.Context, askID string, d sampling.Decision) error {
	_, seq, _ := runlog.SplitAskID(askID)
	f.mu.Lock()
	f.approved = append(f.approved, d)
	f.mu.Unlock()
	f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: 1, Approved: &runlog.Approval{Model: d.Model}})
	f.append(runlog.KindSampling, runlog.Sampling{AskSeq: seq, Call: 1, Ended: &runlog.EndOfSampling{Error: "It broke off."}})
	return nil
}

func (f *fakeRuns) Ask(_ context.Context, id string) (engine.OpenAsk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return engine.OpenAsk{ID: id, For: f.others, Excluded: f.others != ""}, nil
}

// asker asks with a function.
type asker func(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error)

func (a asker) Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error) {
	return a(ctx, q, invalid)
}

func accept(key, value string) runs.Answer {
	content, _ := json.Marshal(map[string]string{key: value})
	return runs.Answer{Action: askdata.Accept, Content: content}
}

func completed() runlog.Finished {
	return runlog.Finished{Status: runlog.Completed, Result: json.RawMessage("1")}
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/recordedvalue"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runpause"
	"github.com/photon-beam/beam/internal/toolresult"
)

// A worker drives a run's generator: it records the generator's events and sends it
// the replies to its calls. Its fields are guarded by the run's mu. It is stopped
// when trackedRun.worker is no longer it.
type worker struct {
	*trackedRun
	generator    driver.Run
	content      *toolresult.Recorder // nil unless the photon has a definition
	history      *replay.History      // of a resumed run; nil for a new one
	batch        batch
	runningSteps runningSteps
	calls        []*waitingCall // none twice
	// recordingCall is the call whose question or sleep is being recorded.
	recordingCall *driver.Call
	// answersAgain means that its question is answered as an earlier run's was.
	answersAgain bool
	// pauses say why the generator does nothing, although it doesn't wait for a reply.
	pauses []*string
	// secrets are the secret answers that the generator has been given.
	secrets mask.Secrets
	// replayObserved means that the end of the replay was metered and traced.
	replayObserved bool
	// stalledCount is the number of stalled writes. stopped is closed when the
	// worker is stopped; it is nil if no write has stalled.
	stalledCount int
	stopped      chan struct{}
}

// launchGenerator starts the generator and its worker. The caller is who started the run, with a
// client that may be nil; h is the history to replay, or nil for a new run.
func (r *trackedRun) launchGenerator(caller generators.Caller, client *clientsession.Client, args json.RawMessage, h *replay.History) {
	w := &worker{trackedRun: r, history: h}
	if r.source != nil {
		r.source.Mask = func(key string) string { return w.secrets.Key(key) }
	}
	ctx := r.core.generatorContext(r.id, caller, client)
	ctx, endSpan := r.core.tracer.TraceGenerator(ctx, r.tracedRun())
	if r.photon.Options().Definition != nil {
		ctx, w.content = toolresult.WithRecorder(runpause.With(recording.WithObserver(ctx, func(o recording.Observed) { r.core.RecordMessage(r.id, o) }), w.beginPause))
	}
	w.generator = driver.Prepare(ctx, r.photon, args)
	w.generator.SetID(r.id)
	if keys := append(h.Keys(), r.source.Keys()...); h != nil || len(keys) > 0 {
		w.generator.SetRecordedKeys(slices.AppendSeq(keys, maps.Keys(r.Attempts)), w.findRecordedKey)
	}
	r.worker = w
	r.setInactive(false)
	if h.IsDone() {
		w.observeReplay(true) // there are no calls to replay
	}
	r.updateClock()
	r.updateEviction()
	r.core.workers.Add(1)
	r.drivers++
	go w.driveGenerator(endSpan) // not workers.Go, whose frames would double the stack of a waiting run
}

// driveGenerator runs the generator, in a goroutine of its own, and records its
// events. When the generator has returned, it calls endSpan.
func (w *worker) driveGenerator(endSpan func(State)) {
	defer w.finishDriving(endSpan)
	reserveStack()
	for e, err := range w.generator.All {
		if err != nil {
			w.handleGeneratorError(err)
			return
		}
		if !w.recordEvent(e) {
			return
		}
	}
}

// reserveStack grows the goroutine's stack to what a run needs, while there is little to
// copy. Grown below the frames of a tool, in two steps, it took up to a tenth of the time of an
// ask over stdio.
//
//go:noinline
func reserveStack() {
	var frame [5 << 10]byte
	runtime.KeepAlive(&frame)
}

// finishDriving ends the run if the loop over its events ended without an end. It takes mu.
func (w *worker) finishDriving(endSpan func(State)) {
	defer w.core.workers.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker == w { // the generator's goroutine has exited without returning
		text := "the tool failed: its goroutine ended"
		if errors.Is(context.Cause(w.generator.Context()), generators.ErrTimeLimit) {
			text = timeLimitText(w.photon)
		}
		w.failRun(text)
	}
	w.generator.Stop(generators.ErrStopped)
	if w.worker == w {
		w.detachWorker()
	}
	w.drivers--
	if w.drivers == 0 && !w.State.Ended() {
		w.secretAnswers.masked.Store(nil) // the log has them, as long as there is the key
	}
	if w.drivers == 0 && w.State.Ended() {
		w.returning = false
		w.core.residents.recount(w.trackedRun)
	}
	w.releaseKey()
	endSpan(w.State)
}

// endOnRecordError ends a run after an event could not be recorded, unless the
// worker has been stopped or the engine has closed.
func (w *worker) endOnRecordError(err error) {
	var fault *toolError
	var differs *replay.DiffersError
	switch {
	case errors.Is(err, journal.ErrOver), w.worker != w:
		return
	case errors.As(err, &fault):
		w.failRun(fault.text)
	case errors.As(err, &differs):
		w.core.parkDiffering(w, differs)
	case w.core.ctx.Err() != nil:
		return
	default:
		w.core.logger.Error("recording a run", "run", w.id, "photon", w.Start.Photon, "err", w.secrets.Text(err.Error()))
		w.batch.discard() // what could not be recorded
		w.failRun("Beam could not record what the tool did")
	}
}

// handleGeneratorError ends a run whose generator returned an error, panicked or exceeded its
// time limit. It takes mu.
func (w *worker) handleGeneratorError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker != w {
		return
	}
	text := err.Error()
	var panicked *driver.PanicError
	var unfit *recordedvalue.Error
	switch {
	case w.history != nil && errors.As(err, &unfit):
		w.core.parkDiffering(w, replay.ToolChangedErrorf("%v", unfit))
		return
	case errors.As(err, &panicked):
		w.finishRun(runlog.Finished{Status: runlog.Failed, Error: panicked.Error(), Panic: w.describePanic(panicked)})
		return
	case errors.Is(context.Cause(w.generator.Context()), generators.ErrTimeLimit):
		text = timeLimitText(w.photon)
	default:
		if f, ok := w.unansweredEnd(err); ok {
			w.finishRun(f)
			return
		}
	}
	w.failRun(text)
}

// failRun ends the run as failed.
func (w *worker) failRun(text string) {
	w.finishRun(runlog.Finished{Status: runlog.Failed, Error: w.secrets.Text(text)})
}

// finishRun records the end of the generator, as soon as the log can record it.
func (w *worker) finishRun(f runlog.Finished) {
	if err := w.addContent(&f); err != nil {
		if errors.Is(err, journal.ErrOver) {
			return
		}
		w.core.logger.Error("recording a result", "run", w.id, "photon", w.Start.Photon, "err", w.secrets.Text(err.Error()))
		f = runlog.Finished{Status: runlog.Failed, Error: "Beam could not record the tool's result"}
	}
	_ = w.retryTransient(func() error { return w.endRun(f) }) // endRun has logged the error
}

func timeLimitText(p *generators.Photon) string {
	return fmt.Sprintf("the tool exceeded its time limit of %s", p.Options().TimeLimit)
}

// completeRun ends the run with the generator's result.
func (w *worker) completeRun(result *generators.Result) error {
	// A goroutine that the generator doesn't wait for may be stopped before it has
	// made its recorded calls.
	if !w.generator.Concurrent() {
		if err := w.history.CheckAllReplayed(); err != nil {
			return err
		}
	}
	f := runlog.Finished{Status: runlog.Completed}
	if err := w.addResult(&f, w.secrets.JSON(result.Value)); err != nil {
		return err
	}
	if f.MediaType = w.content.MediaType(); f.MediaType == "" && w.photon.Output() != nil {
		schema := w.photon.Output()
		f.MediaType = schema.Document().ContentMediaType
	}
	w.finishRun(f)
	return nil
}

// The sizes to which what is kept of a panic is truncated.
const (
	maxPanicBytes = 8 << 10
	maxStackBytes = 32 << 10
)

// describePanic returns what operators are told of a panic, and logs it.
func (w *worker) describePanic(p *driver.PanicError) string {
	value, stack := w.secrets.Text(fmt.Sprint(p.Value)), w.secrets.Text(string(p.Stack))
	w.core.logger.Error("a tool panicked", "run", w.id, "photon", w.Start.Photon, "panic", value, "stack", stack)
	return "panic: " + humanize.TruncateBytes(value, maxPanicBytes, " …") + "\n\n" + humanize.TruncateBytes(stack, maxStackBytes, "\n…")
}

// beginPause notes that the generator waits for something that no entry tells of, and wakes who
// follows the run, again when it ends; see package runpause.
func (w *worker) beginPause(reason string) (end func()) {
	w.changePauses(func() { w.pauses = append(w.pauses, &reason) })
	return func() {
		w.changePauses(func() {
			w.pauses = slices.DeleteFunc(w.pauses, func(p *string) bool { return p == &reason })
		})
	}
}

// changePauses calls change, and wakes who follows the run. It takes mu.
func (w *worker) changePauses(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	if w.worker == w {
		w.core.watchers.Notify(w.owner())
		w.wakeWaiters()
	}
}

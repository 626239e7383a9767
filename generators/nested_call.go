package generators

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/internal/call"
)

// A replay returns the recorded value of a step without calling its function, so it
// would never reach a call that the function makes. Such a call therefore ends the run
// when it is yielded, and not only once the run is replayed.

// callStepFunction calls fn, the function of a step or of a goroutine that such a
// function starts. Its frame marks the stack for [insideStep].
//
//go:noinline
func callStepFunction(fn func()) { fn() }

// insideStep reports whether the calling goroutine runs the function of a step.
func insideStep() bool {
	var callers [64]uintptr
	for skip := 2; ; skip += len(callers) {
		n := runtime.Callers(skip, callers[:])
		for _, pc := range callers[:n] {
			if f := runtime.FuncForPC(pc - 1); f != nil && f.Name() == callStepFunctionName {
				return true
			}
		}
		if n < len(callers) {
			return false
		}
	}
}

var callStepFunctionName = func() (name string) {
	callStepFunction(func() {
		pc, _, _, _ := runtime.Caller(1)
		name = runtime.FuncForPC(pc).Name()
	})
	return name
}()

// beginStep notes that the function of a step runs, until endStep.
func (r *run) beginStep(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runningSteps = append(r.runningSteps, key)
}

func (r *run) endStep(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.runningSteps, key); i >= 0 {
		r.runningSteps = slices.Delete(r.runningSteps, i, i+1)
	}
}

// isRunningStep reports whether c is the call of a step whose function runs, which yields it
// again for each try. The caller holds r.mu.
func (r *run) isRunningStep(c *call.Call) bool {
	return runOf(c) == r && c.Kind == call.StepKind && slices.Contains(r.runningSteps, c.Key)
}

// isNested reports whether the function of a step yields an event. Without goroutines of
// Go, that is so whenever a step runs. Otherwise it depends on the goroutine that yields:
// this one, or one that has sent the event and found itself inside a step. The caller
// holds r.mu.
func (r *run) isNested(sentInside bool) bool {
	return sentInside || len(r.runningSteps) > 0 && (!r.Concurrent() || insideStep())
}

// refuseNested ends the run because of a call inside a step. The caller holds r.mu.
func (r *run) refuseNested(c *call.Call) {
	what, advice := fmt.Sprintf("asked %q", c.Key), "ask"
	switch c.Kind {
	case call.StepKind:
		what, advice = fmt.Sprintf("ran the step %q", c.Key), "run it"
	case call.SleepKind:
		what, advice = fmt.Sprintf("began the sleep %q", c.Key), "sleep"
	}
	step := "a step"
	if len(r.runningSteps) == 1 {
		step = fmt.Sprintf("the step %q", r.runningSteps[0])
	}
	r.endForMistake(fmt.Errorf("the tool %s inside %s. A replay returns the recorded value of a step without running it, "+
		"so nothing inside a step may ask, sleep or be a step: %s before or after it", what, step, advice))
}

// uniqueKeys makes the keys of a run's calls unique.
type uniqueKeys struct{ count map[string]int }

// reserve keeps a key from being returned by unique.
func (k *uniqueKeys) reserve(key string) {
	if k.count == nil {
		k.count = map[string]int{}
	}
	k.count[key]++
}

// unique returns the key, with a suffix if it was used before: #2, #3 and so on.
func (k *uniqueKeys) unique(key string) string {
	if k.count == nil {
		k.count = map[string]int{}
	}
	free := key
	for n := k.count[key] + 1; k.count[free] > 0; n++ {
		free = key + "#" + strconv.Itoa(n)
		k.count[key] = n
	}
	k.count[free]++
	return free
}

package session

import (
	"errors"
	"maps"
	"sync"

	"github.com/photon-beam/beam/internal/mcp/requests"
)

// PolledTasks are the tasks of 2025-11-25 that a client polls. The specification has such
// a client request the task's result when input is required, and asks it on that request's
// stream. A client that polls on instead is asked on the standalone stream. The zero value
// has no tasks.
type PolledTasks struct {
	mu    sync.Mutex
	tasks map[string]*polledTask // by their run's id
	ended bool
}

type polledTask struct {
	askID string // of the first open question when the client polled last
	// asking is what asks the client; nil if nothing does.
	asking *requests.InFlight
	// resultRequests is how many requests for the result are in progress.
	resultRequests int
}

// isQuiet reports whether the client isn't being asked about the task.
func (t *polledTask) isQuiet() bool { return t.asking == nil && t.resultRequests == 0 }

// errResultRequested means that the client has requested a task's result, and is asked on
// the stream of that request.
var errResultRequested = errors.New("it is asked on the stream of its task's result")

// maxPolledTasks is the number of polled tasks above which a session forgets those that it
// does not ask about.
const maxPolledTasks = 10_000

// RecordPoll records that the client has polled a waiting task whose first open question
// is askID. It reports whether to ask the client now on stream: if it has seen that
// question before, and isn't being asked. Asking is what ends that; the caller must pass it
// to [PolledTasks.EndAsking].
func (p *PolledTasks) RecordPoll(id, askID string, stream *Stream) (asking *requests.InFlight, isDue bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, false
	}
	t := p.task(id)
	seen := t.askID == askID
	t.askID = askID
	if !seen || !t.isQuiet() {
		return nil, false
	}
	t.asking = requests.NewInFlight(stream.Context)
	return t.asking, true
}

// task returns the polled task with an id, which it adds if necessary. The caller holds mu.
func (p *PolledTasks) task(id string) *polledTask {
	if t := p.tasks[id]; t != nil {
		return t
	}
	if p.tasks == nil {
		p.tasks = map[string]*polledTask{}
	}
	if len(p.tasks) >= maxPolledTasks {
		maps.DeleteFunc(p.tasks, func(_ string, t *polledTask) bool { return t.isQuiet() })
	}
	t := &polledTask{}
	p.tasks[id] = t
	return t
}

// EndAsking forgets what asked the client about a task.
func (p *PolledTasks) EndAsking(id string, asking *requests.InFlight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tasks[id]; t != nil && t.asking == asking {
		t.asking = nil
		p.drop(id, t)
	}
}

// BeginResultRequest records a request for a task's result, on whose stream the client is
// asked from now on. The caller must call the returned function when it ends.
func (p *PolledTasks) BeginResultRequest(id string) (end func()) {
	p.mu.Lock()
	t := p.task(id)
	t.resultRequests++
	asking := t.asking
	p.mu.Unlock()
	if asking != nil {
		asking.Cancel(errResultRequested)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.resultRequests--
		p.drop(id, t)
	}
}

// drop forgets a polled task unless the client is being asked about it. The caller holds
// mu.
func (p *PolledTasks) drop(id string, t *polledTask) {
	if t.isQuiet() && p.tasks[id] == t {
		delete(p.tasks, id)
	}
}

// end cancels what asks the client about its tasks.
func (p *PolledTasks) end(cause error) {
	p.mu.Lock()
	p.ended = true
	var all []*requests.InFlight
	for t := range maps.Values(p.tasks) {
		if t.asking != nil {
			all = append(all, t.asking)
		}
	}
	p.mu.Unlock()
	for _, a := range all {
		a.Cancel(cause)
	}
}

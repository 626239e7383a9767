package tasks

import (
	"cmp"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// pollIntervalWorking and pollIntervalWaiting are how often a client should poll.
const (
	pollIntervalWorking = 500 * time.Millisecond
	pollIntervalWaiting = 2 * time.Second
)

// The statuses of tasks.
const (
	statusWorking       = "working"
	statusInputRequired = "input_required"
	statusCompleted     = "completed"
	statusFailed        = "failed"
	statusCancelled     = "cancelled"
)

// A task is a Task of MCP 2025-11-25.
type task struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	// TTL is the time since Created, in milliseconds, after which the task may be
	// deleted. It is nil until the task ends.
	TTL  *int64 `json:"ttl"`
	Poll int64  `json:"pollInterval,omitempty"` // milliseconds
}

// newTask returns a run as a task.
func newTask(info engine.Info) task {
	t := task{
		ID: info.ID, Message: cmp.Or(info.Pause(), info.LatestStatus), Poll: pollIntervalWorking.Milliseconds(),
		Created: truncateTime(info.Started), Updated: truncateTime(info.StateChanged),
	}
	switch info.State {
	case engine.Running, engine.Sleeping, engine.Parked:
		t.Status = statusWorking
	case engine.Waiting:
		t.Status, t.Message, t.Poll = statusInputRequired, waitingMessage(info), pollIntervalWaiting.Milliseconds()
	default:
		t.Status, t.Message = outcomeOf(info).TaskStatus, endMessage(info)
		if isCancelled(info) {
			t.Status = statusCancelled
		}
	}
	if info.State.Ended() {
		ttl := info.RetainedUntil.Sub(info.Started).Milliseconds()
		t.TTL, t.Poll = &ttl, 0
	}
	return t
}

// isCancelled reports whether tasks/cancel has stopped the run. Nothing else cancels a
// task.
func isCancelled(info engine.Info) bool {
	return info.State == engine.Stopped && info.End != nil && info.End.Surface == Surface
}

// endMessage returns the status message of a run that has ended. Some clients give their
// model nothing else of a task that failed.
func endMessage(info engine.Info) string {
	if info.End == nil || !outcomeOf(info).IsError {
		return info.Error
	}
	return outcome.TextForModel(info.End)
}

// outcomeOf returns how a run has ended.
func outcomeOf(info engine.Info) *outcome.Outcome {
	return outcome.Find(runlog.FinishStatus(info.State), info.Reason)
}

// truncateTime returns t as tasks report it: in UTC, to the millisecond.
func truncateTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// waitingMessage returns the status message of a waiting run.
func waitingMessage(info engine.Info) string {
	if len(info.Asks) == 0 {
		return info.LatestStatus
	}
	if first := info.Asks[0]; first.Excluded {
		return "waits for " + first.For + " to answer: " + msg.LineSaidBy(first.Question, info.Photon)
	}
	return "waits for an answer: " + msg.LineSaidBy(info.Asks[0].Question, info.Photon)
}

// newTaskFor returns a run as a task for a client. The status message includes the
// address of the question if the client can't be asked, or can't be reached while it
// polls. With [Config.Link] it always does, since the client may not ask.
func (s *Service) newTaskFor(r Requester, info engine.Info) task {
	t := newTask(info)
	if t.Status != statusInputRequired || len(info.Asks) == 0 {
		return t
	}
	first, translator := info.Asks[0], s.translator(r, info)
	if _, missing, _ := translator.AskRequest(&first.Asked, first.ID); missing == nil && r.Reachable && !s.Link && !first.Excluded {
		return t
	}
	if address, err := translator.AskPageURL(first.ID); err == nil {
		t.Message += " Answer at " + address
	}
	return t
}

// Members of _meta that belong to tasks.
const (
	metaRelatedTask         = "io.modelcontextprotocol/related-task"
	metaPendingElicitations = "io.modelcontextprotocol/pending-elicitations"
	metaElicitationResponse = "io.modelcontextprotocol/elicitation-response"
	metaImmediateResponse   = "io.modelcontextprotocol/model-immediate-response"
)

// RelatedMeta returns the _meta of a message that belongs to a task.
func RelatedMeta(id string) map[string]any {
	return map[string]any{metaRelatedTask: map[string]string{"taskId": id}}
}

// IsAnswerableElsewhere reports whether a question that a task's client can't be asked
// may be answered in the inbox. Only the client knows its roots.
func IsAnswerableElsewhere(q *askdata.Question) bool { return q.Kind != askdata.KindRoots }

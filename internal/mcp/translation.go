package mcp

import (
	"context"
	"encoding/json"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// translator returns the translator of the call's run for its client. It is made
// when it is needed: a call that waits has to be small.
func (c *call) translator() *msg.Translator {
	t := &msg.Translator{Client: &c.client.Client, Photon: c.photon, RunID: c.runID, ProgressToken: c.progressToken, Source: c}
	if c.photon != nil {
		t.MapUI = c.server.mapUI(c.photon)
	}
	return t
}

var _ msg.Source = (*call)(nil)

// PageBaseURL implements [msg.Source].
func (c *call) PageBaseURL() (string, error) { return c.session.pageBaseURL() }

// ApprovedSample implements [msg.Source].
func (c *call) ApprovedSample(askID string) (*ask.SampleRequest, error) {
	return c.server.engine.ApprovedSample(context.Background(), c.client.caller, askID)
}

// OpenArtifact implements [msg.Source].
func (c *call) OpenArtifact(ctx context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
	return c.server.engine.OpenArtifact(ctx, c.client.caller, c.runID, seq)
}

// Content implements [msg.Source].
func (c *call) Content(end *runlog.Finished) (json.RawMessage, error) {
	return c.server.engine.Content(c.client.caller, c.runID, end)
}

// OpenResult implements [msg.Source].
func (c *call) OpenResult(end *runlog.Finished) (io.ReadCloser, error) {
	return c.server.engine.OpenResult(c.client.caller, c.runID, end)
}

// askPageURL returns the address of a question's page. It carries no authority.
func (c *call) askPageURL(askID string) (string, error) { return c.translator().AskPageURL(askID) }

// buildClientRequest returns the request that asks the client a question, or the
// capability that the client lacks for it.
func (c *call) buildClientRequest(asked *runlog.Asked, askID string) (msg.Request, *msg.MissingCapability, error) {
	return c.translator().AskRequest(asked, askID)
}

// convertEvent returns the notification for an event, or nil if there is none.
func (f *follower) convertEvent(e runlog.Entry) ([]byte, error) {
	return f.translator().Notification(&f.state, e)
}

// sendEvent sends the notification of an event.
func (f *follower) sendEvent(e runlog.Entry) error {
	notification, err := f.convertEvent(e)
	if err != nil || notification == nil {
		return err
	}
	f.recordProgress()
	return f.sender.Send(f.cursor(e.Seq), notification)
}

// buildResult returns the run's end as the result of its call.
func (f *follower) buildResult(ctx context.Context, end runlog.Finished) (*msg.ToolResult, error) {
	return f.translator().Result(ctx, &f.state, end)
}

// buildStatusNotification returns progress for what the log does not have, as that
// the call waits. Nil if the client wants no progress.
func (f *follower) buildStatusNotification(text string) []byte {
	n := f.translator().StatusMessage(&f.state, text)
	if n != nil {
		f.mu.Lock()
		f.unrecordedProgress = true
		f.mu.Unlock()
		f.recordProgress()
	}
	return n
}

// recordProgress keeps the last progress for the follower that goes on when this
// one's stream breaks off.
func (f *follower) recordProgress() {
	if value, sent := f.state.Progress.Last(); sent && f.progressToken != nil {
		f.mu.Lock()
		f.progress = value
		f.mu.Unlock()
	}
}

// resumeProgress goes on after the progress that an earlier follower of the call
// sent. The log alone determines it, unless there was progress that the log does
// not have.
func (f *follower) resumeProgress() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unrecordedProgress {
		f.state.Progress.RaiseTo(f.progress)
	}
}

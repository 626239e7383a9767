// Package appview renders runs for the chats of MCP clients (MCP Apps): a document, which
// clients show in a frame beside the call of a tool, and what it shows of a run. It has
// the components of Beam's pages.
package appview

import (
	"context"
	"net/url"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/medium"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Views renders runs. It is safe for concurrent use.
type Views struct{ engine *engine.Engine }

var _ apps.View = (*Views)(nil)

// New returns the views of an engine's runs.
func New(e *engine.Engine) *Views { return &Views{e} }

// Limits on what the view shows of a run, in bytes of HTML unless they count rows.
const (
	maxRows     = 100
	maxRow      = 256 << 10
	maxAllRows  = 512 << 10
	maxQuestion = 512 << 10
)

// Render implements [apps.View].
func (v *Views) Render(ctx context.Context, caller generators.Caller, r apps.Reading) (*apps.Snapshot, error) {
	run, changed, err := v.load(ctx, caller, r.Run, r.After)
	if err != nil {
		return nil, err
	}
	ctx = renderContext(ctx, r.Base)
	s := &apps.Snapshot{
		Run: run.ID, Tool: run.Photon, Title: run.Title, State: string(run.State), Label: ui.ChatState(run),
		Ended: run.State.Ended(), Seq: run.LastSeq, Questions: []apps.Question{},
	}
	if r.Base != "" {
		s.URL, s.Inbox = links.Base(r.Base).Run(run.ID), links.Base(r.Base).Inbox()
	}
	if run.Progress != nil {
		if s.Progress, err = html(ctx, ui.ProgressBar(run.Progress)); err != nil {
			return nil, err
		}
	}
	if err := addRows(ctx, s, run, changed, r.After); err != nil {
		return nil, err
	}
	for _, a := range run.Open {
		q := apps.Question{ID: a.ID}
		if _, seq, _ := runlog.SplitAskID(a.ID); seq > r.After { // otherwise the view has it
			if q, err = renderQuestion(ctx, a.OpenAsk, r.Policy, r.Base, nil, nil); err != nil {
				return nil, err
			}
		}
		s.Questions = append(s.Questions, q)
	}
	if s.Ended {
		s.Result = message.ToolOutput(run.ID, run.Photon, s.Label, resultText(run))
	}
	return s, nil
}

// load folds a run's log, and returns the items that have changed after an ordinal.
func (v *Views) load(ctx context.Context, caller generators.Caller, id string, after uint64) (*timeline.Run, map[*timeline.Item]bool, error) {
	batches, err := v.engine.Read(ctx, caller, id, 0)
	if err != nil {
		return nil, nil, err
	}
	run, changed := timeline.New(id), map[*timeline.Item]bool{}
	run.Viewer = caller
	for batch, err := range batches {
		if err != nil {
			return nil, nil, err
		}
		for _, e := range batch {
			c := run.Apply(e)
			if e.Seq <= after {
				continue
			}
			for _, i := range append(c.AlsoChanged, c.Item) {
				changed[i] = i != nil
			}
		}
	}
	// The entry that settles a question changes the row of the question.
	for _, i := range run.Items {
		if i.Kind == timeline.Asked && i.Ask.State != timeline.Open && after < run.LastSeq {
			changed[i] = true
		}
	}
	return run, changed, nil
}

// addRows adds the rows that have changed, the latest first if they are too many or too
// large.
func addRows(ctx context.Context, s *apps.Snapshot, run *timeline.Run, changed map[*timeline.Item]bool, after uint64) error {
	size := 0
	for n := len(run.Items) - 1; n >= 0; n-- {
		i := run.Items[n]
		if !changed[i] || !ui.IsShownInChat(i) {
			continue
		}
		if len(s.Rows) == maxRows || size > maxAllRows {
			s.Dropped++
			continue
		}
		row, err := html(ctx, ui.ChatRow(run, i))
		if err == nil && len(row) > maxRow {
			row, err = html(ctx, ui.ChatLargeRow(i, s.URL))
		}
		if err != nil {
			return err
		}
		size += len(row)
		s.Rows = append(s.Rows, apps.Fragment{ID: i.ID(), HTML: row})
	}
	if after == 0 {
		s.Dropped += run.DroppedItems
	}
	for a, b := 0, len(s.Rows)-1; a < b; a, b = a+1, b-1 {
		s.Rows[a], s.Rows[b] = s.Rows[b], s.Rows[a]
	}
	return nil
}

// RenderInvalid implements [apps.View].
func (v *Views) RenderInvalid(ctx context.Context, open engine.OpenAsk, policy apps.Policy, base string, values url.Values, errs []generators.FieldError) (apps.Question, error) {
	return renderQuestion(renderContext(ctx, base), open, policy, base, errs, values)
}

func renderQuestion(ctx context.Context, open engine.OpenAsk, policy apps.Policy, base string, errs []generators.FieldError, values url.Values) (apps.Question, error) {
	q := apps.Question{ID: open.ID}
	options := ui.ChatQuestionOptions{
		Accept: policy.Allows(open.Question, askdata.Accept), Decline: policy.Allows(open.Question, askdata.Decline), HasPages: base != "",
	}
	var err error
	q.HTML, err = html(ctx, ui.ChatQuestion(open, options, errs, values))
	if err == nil && len(q.HTML) > maxQuestion {
		options.Accept, options.TooLarge = false, true
		q.HTML, err = html(ctx, ui.ChatQuestion(open, options, nil, nil))
	}
	return q, err
}

// RenderingOf implements [apps.View].
func (v *Views) RenderingOf(open engine.OpenAsk) runlog.Rendering { return ui.ChatRenderingOf(open) }

// resultText returns what a run that has ended says, for its model.
func resultText(r *timeline.Run) string {
	if r.Error != "" {
		return r.Error
	}
	return string(r.Result)
}

// renderContext returns a context to render in, for a document that may load nothing. Its
// links lead to base.
func renderContext(ctx context.Context, base string) context.Context {
	return medium.With(links.WithBase(ctx, links.Base(base)), medium.Chat)
}

func html(ctx context.Context, c templ.Component) (string, error) {
	page, err := ui.Render(ctx, c)
	return string(page), err
}

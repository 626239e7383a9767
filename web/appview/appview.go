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
type Views struct{ loader timeline.Loader }

var _ apps.View = (*Views)(nil)

// New returns the views of an engine's runs.
func New(e *engine.Engine) *Views {
	return &Views{timeline.Loader{Engine: e, Upstream: func(string) string { return "" }}}
}

// Limits on what the view shows of a run, in bytes of HTML unless they count rows.
const (
	maxRows     = 100
	maxRow      = 256 << 10
	maxAllRows  = 512 << 10
	maxQuestion = 512 << 10
)

// Render implements [apps.View].
func (v *Views) Render(ctx context.Context, caller generators.Caller, r apps.Reading) (*apps.Snapshot, error) {
	changed := make(changedItems)
	run, err := v.loader.LoadChanges(ctx, caller, r.Run, func(c timeline.Change) { changed.add(c, r.After) })
	if err != nil {
		return nil, err
	}
	return snapshot(ctx, run, changed, r)
}

// changedItems are the rows that have changed after an ordinal.
type changedItems map[*timeline.Item]bool

func (items changedItems) add(c timeline.Change, after uint64) {
	if c.Seq <= after {
		return
	}
	for _, i := range append(c.AlsoChanged, c.Item) {
		items[i] = true
	}
}

// snapshot renders a run.
func snapshot(ctx context.Context, run *timeline.Run, changed changedItems, r apps.Reading) (s *apps.Snapshot, err error) {
	ctx = renderContext(ctx, r.Base)
	s = &apps.Snapshot{
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
	renewed := make(map[*timeline.Ask]bool) // by a park, or the end of one
	for i := range changed {
		if i != nil && i.Kind == timeline.Asked {
			renewed[i.Ask] = true
		}
	}
	for _, a := range run.Open {
		q := apps.Question{ID: a.ID}
		if renewed[a] { // otherwise the view has it
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

// addRows adds the rows that have changed, the latest first if they are too many or too
// large.
func addRows(ctx context.Context, s *apps.Snapshot, run *timeline.Run, changed changedItems, after uint64) error {
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
		row, err := html(ctx, ui.Row(run, i))
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

package stream

import (
	"context"
	"slices"
	"strings"

	"github.com/starfederation/datastar-go/datastar"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// A patchRenderer renders a run's entries as patches of its page. It folds the log from
// the beginning and renders nothing up to the page's position. If the connection broke
// within a batch, it renders the whole run again; morphing unchanged elements has no
// effect.
type patchRenderer struct {
	ctx     context.Context
	after   uint64 // the page's position
	until   uint64 // the end of the log when the page connected
	partial bool   // the page may have received part of the next batch
	run     *timeline.Run
	// framePatches returns the patches of the bar and the sidebar.
	framePatches func() []ui.Patch
	started      bool
	pending      []timeline.Change
}

var _ sse.Renderer = (*patchRenderer)(nil)

// Render implements [sse.Renderer]. An empty batch means that those may have changed who can
// answer the open questions.
func (p *patchRenderer) Render(batch []runlog.Entry) ([]sse.Message, error) {
	if len(batch) == 0 && p.started {
		return encodePatches(p.ctx, ui.ReasonPatches(p.run.UpdateAudiences()))
	}
	for _, e := range batch {
		if c := p.run.Apply(e); e.Seq > p.after {
			p.pending = append(p.pending, c)
		}
	}
	if p.run.LastSeq < p.until || len(batch) == 0 {
		return nil, nil
	}
	var list []ui.Patch
	if !p.started && p.partial {
		list = ui.ResyncPatches(p.run)
	} else {
		list = ui.RunPatches(p.run, p.pending)
	}
	if affectsOtherPages(p.pending) || !p.started {
		list = append(p.framePatches(), list...)
	}
	if !p.started {
		list = append(list, ui.ReasonPatches(p.shownAsks())...) // the page may have been rendered before they changed
	}
	messages, err := encodePatches(p.ctx, list)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	// The first message marks the batch as partially received, the last as complete.
	messages[0].ID, messages[0].Partial = max(p.after, 1), true
	messages = append(messages, sse.Message{ID: p.run.LastSeq})
	p.started, p.pending, p.after = true, p.pending[:0], p.run.LastSeq
	return messages, nil
}

// shownAsks returns the open questions that the page has had from the beginning.
func (p *patchRenderer) shownAsks() (asks []engine.OpenAsk) {
	for _, a := range p.run.Open {
		if _, seq, _ := runlog.SplitAskID(a.ID); seq <= p.after {
			asks = append(asks, a.OpenAsk)
		}
	}
	return asks
}

// Broken implements the interface of renderers that explain a damaged log. The patch
// removes what would connect the page again.
func (p *patchRenderer) Broken(err error) ([]sse.Message, error) {
	return encodePatches(p.ctx, []ui.Patch{{Component: ui.RunDamaged(err)}})
}

// affectsOtherPages reports whether changes affect more than the run's own page.
func affectsOtherPages(changes []timeline.Change) bool {
	return slices.ContainsFunc(changes, func(c timeline.Change) bool { return c.StateChanged || c.AsksChanged })
}

func encodePatches(ctx context.Context, list []ui.Patch) ([]sse.Message, error) {
	messages := make([]sse.Message, 0, len(list))
	for _, patch := range list {
		m, err := encodePatch(ctx, patch)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// encodePatch encodes a patch as a datastar-patch-elements event.
func encodePatch(ctx context.Context, p ui.Patch) (sse.Message, error) {
	var b strings.Builder
	if p.Selector != "" {
		b.WriteString(datastar.SelectorDatalineLiteral + p.Selector + "\n")
	}
	if mode := datastar.ElementPatchMode(p.Mode); mode != "" && mode != datastar.DefaultElementPatchMode {
		b.WriteString(datastar.ModeDatalineLiteral + p.Mode + "\n")
	}
	if p.Component != nil {
		html, err := ui.Render(ctx, p.Component)
		if err != nil {
			return sse.Message{}, err
		}
		for line := range strings.Lines(string(html)) {
			b.WriteString(datastar.ElementsDatalineLiteral + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return sse.Message{Type: string(datastar.EventTypePatchElements), Data: []byte(b.String())}, nil
}

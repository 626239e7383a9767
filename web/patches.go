package web

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/starfederation/datastar-go/datastar"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// patches renders a run as changes of its page. It folds the log from its
// beginning, silently up to where the page already is. A page whose connection
// broke within a batch is shown the whole run again: morphing what is there
// already changes nothing.
type patches struct {
	ctx   context.Context
	after uint64 // where the page is
	until uint64 // where the log was when the page came
	torn  bool   // the page may have some of what comes after
	told  *timeline.Run
	// around makes the patches of what stands around the page.
	around func() []ui.Patch
	begun  bool
	queue  []timeline.Change
}

var _ sse.Renderer = (*patches)(nil)

// Render implements [sse.Renderer].
func (p *patches) Render(batch []log.Entry) ([]sse.Message, error) {
	for _, e := range batch {
		if c := p.told.Apply(e); e.Seq > p.after {
			p.queue = append(p.queue, c)
		}
	}
	if p.told.Last < p.until {
		return nil, nil
	}
	var list []ui.Patch
	if !p.begun && p.torn {
		list = ui.Sync(p.told)
	} else {
		list = ui.Patches(p.told, p.queue)
	}
	if moved(p.queue) || !p.begun {
		list = append(p.around(), list...)
	}
	messages, err := patchMessages(p.ctx, list)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	// Who gets the first has got something, and who gets the last has got all.
	messages[0].ID, messages[0].Partly = max(p.after, 1), true
	messages = append(messages, sse.Message{ID: p.told.Last})
	p.begun, p.queue, p.after = true, p.queue[:0], p.told.Last
	return messages, nil
}

// moved tells whether changes concern more than the run's own page.
func moved(changes []timeline.Change) bool {
	return slices.ContainsFunc(changes, func(c timeline.Change) bool { return c.Head || c.Asks })
}

func patchMessages(ctx context.Context, list []ui.Patch) ([]sse.Message, error) {
	messages := make([]sse.Message, 0, len(list))
	for _, patch := range list {
		m, err := patchMessage(ctx, patch)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// patchMessage is one datastar-patch-elements event.
func patchMessage(ctx context.Context, p ui.Patch) (sse.Message, error) {
	var b strings.Builder
	if p.Selector != "" {
		b.WriteString(datastar.SelectorDatalineLiteral + p.Selector + "\n")
	}
	if mode := datastar.ElementPatchMode(p.Mode); mode != "" && mode != datastar.DefaultElementPatchMode {
		b.WriteString(datastar.ModeDatalineLiteral + p.Mode + "\n")
	}
	if p.Component != nil {
		html, err := renderText(ctx, p.Component)
		if err != nil {
			return sse.Message{}, err
		}
		for line := range strings.Lines(html) {
			b.WriteString(datastar.ElementsDatalineLiteral + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return sse.Message{Type: string(datastar.EventTypePatchElements), Data: []byte(b.String())}, nil
}

// renderText renders a component. A lone carriage return would end a line of
// the stream, so it becomes a line feed.
func renderText(ctx context.Context, c templ.Component) (string, error) {
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		return "", err
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(b.String()), nil
}

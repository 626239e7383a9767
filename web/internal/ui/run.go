package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/medium"
	"github.com/photon-beam/beam/web/internal/timeline"
)

func runTitle(r *timeline.Run) string {
	return cmp.Or(r.Title, r.Photon) + " · run " + r.ShortID()
}

// announceState describes a run's state for screen readers.
func announceState(r *timeline.Run) string {
	if n := len(r.Open); n > 0 {
		return fmt.Sprintf("%s: %s", humanize.CountOf(n, "question waits", "questions wait"), questionText(r.Open[n-1].OpenAsk))
	}
	switch r.State {
	case engine.Running:
		return "The run is in progress."
	case engine.Failed:
		return "The run failed: " + r.Error
	case engine.Unanswered:
		return "The run has ended: " + r.Error
	}
	return "The run is " + string(r.State) + "."
}

// maxRerunArguments bounds the input that the page has, to run it again, in bytes.
const maxRerunArguments = 64 << 10

// rerunArguments returns a run's input, to run it again; empty if the input is unknown
// or too large for a page.
func rerunArguments(r *timeline.Run) string {
	var args map[string]json.RawMessage // anything else is a note that they aren't recorded
	if len(r.Args) > maxRerunArguments || json.Unmarshal(r.Args, &args) != nil {
		return ""
	}
	return string(r.Args)
}

// editURL returns the URL of the photon's form with the run's input filled in; empty if there
// is none.
func editURL(ctx context.Context, r *timeline.Run) string {
	var args map[string]json.RawMessage
	if !r.LargeArgs && (json.Unmarshal(r.Args, &args) != nil || len(args) == 0) {
		return ""
	}
	return site(ctx).Photon(r.Photon) + "?" + url.Values{"beam:from": {r.ID}}.Encode()
}

// askOnRunURL returns the address of an open question's form on its run's page.
func askOnRunURL(ctx context.Context, r *timeline.Run, a *timeline.Ask) string {
	switch form := fragmentURL(askElementID(a.ID)); {
	case medium.Of(ctx) == medium.Export:
		return ""
	case r.IsWindow():
		return site(ctx).Run(a.Run) + form
	default:
		return form
	}
}

// rowRange says which rows a page has.
func rowRange(r *timeline.Run) string {
	all := r.DroppedItems + len(r.Items) + r.LaterItems
	if len(r.Items) == 0 {
		return "None of " + humanize.CountOf(all, "entry", "entries")
	}
	return fmt.Sprintf("%s–%s of %s", humanize.Thousands(r.DroppedItems+1), humanize.Thousands(r.DroppedItems+len(r.Items)), humanize.CountOf(all, "entry", "entries"))
}

package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/web/timeline"
)

// Limits on the input that the page offers to run again, in bytes.
const (
	maxRerunArguments = 64 << 10
	maxEditArguments  = 1500 // it becomes part of a URL
)

// rerunArguments returns a run's input, to run it again; empty if the input is unknown
// or too large for a page.
func rerunArguments(r *timeline.Run) string {
	if len(r.Args) > maxRerunArguments || !json.Valid(r.Args) {
		return ""
	}
	return string(r.Args)
}

// editURL returns the URL of the photon's form with the run's input filled in; empty if
// there is no input or it is too large for a URL.
func editURL(ctx context.Context, r *timeline.Run) templ.SafeURL {
	var args map[string]json.RawMessage
	if len(r.Args) > maxEditArguments || json.Unmarshal(r.Args, &args) != nil || len(args) == 0 {
		return ""
	}
	query := url.Values{}
	for name, raw := range args {
		text, ok := jsonString(raw)
		if !ok {
			text = string(raw)
		}
		if bytes.HasPrefix(raw, []byte("{")) {
			return "" // a link can't fill in an object
		}
		query.Set(name, text)
	}
	return photonURL(ctx, r.Photon) + templ.SafeURL("?"+query.Encode())
}

package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/timeline"
)

// follow is the expression that opens the page's stream after what the page
// shows. Reconnecting, Datastar says in a header what came last; so a page that
// comes back can be told from one that is new.
func follow(r *timeline.Run) string {
	return "@get('/runs/" + safeID(r.ID) + "/events?after=" + strconv.FormatUint(r.Last, 10) +
		"',{retry:'always',retryInterval:300,retryMaxCount:Infinity,requestCancellation:'cleanup'})"
}

// connected are the signals of a page's stream: whether it is away, and whether
// it is only to come back soon, which is nothing to speak of.
const connected = "{_away: false, _soon: false}"

// watch notes when the page's stream is away; the server says when it is back.
const watch = "evt.detail.el === el && (evt.detail.type === 'retrying' || evt.detail.type === 'error') && ($_soon ? $_soon = false : $_away = true)"

func stop(r *timeline.Run) string {
	return "@post('/runs/" + safeID(r.ID) + "/cancel',{contentType:'form',retry:'never'})"
}

// show is the expression that brings a question up again.
func show(a *timeline.Ask) string {
	return "document.getElementById('" + cssID(a.ID) + "')?.show()"
}

// startClock and showClock keep the elapsed time going between patches.
func startClock(r *timeline.Run) string {
	return fmt.Sprintf("$_start = Date.now() - %d; $_ms = Date.now() - $_start", elapsed(r.Started, r.Ended).Milliseconds())
}

const showClock = "(s => (s >= 3600 ? Math.floor(s / 3600) + ':' + String(Math.floor(s / 60) % 60).padStart(2, '0') : Math.floor(s / 60)) + ':' + String(s % 60).padStart(2, '0'))(Math.floor(($_ms ?? 0) / 1000))"

func runTitle(r *timeline.Run) string {
	return orName(r.Title, r.Photon) + " · run " + r.Short()
}

// What of a run's input is offered to be run again, in bytes.
const (
	maxSame = 64 << 10
	maxEdit = 1500 // it stands in an address
)

// sameArgs is the input of a run for another of the same; empty if it is not
// known or too large to be held in a page.
func sameArgs(r *timeline.Run) string {
	if len(r.Args) > maxSame || !json.Valid(r.Args) {
		return ""
	}
	return string(r.Args)
}

// editURL is the address of the photon's form with a run's input filled in; empty
// if there is none, or more than an address should hold.
func editURL(r *timeline.Run) templ.SafeURL {
	var args map[string]json.RawMessage
	if len(r.Args) > maxEdit || json.Unmarshal(r.Args, &args) != nil || len(args) == 0 {
		return ""
	}
	query := url.Values{}
	for name, raw := range args {
		text, ok := jsonText(raw)
		if !ok {
			text = string(raw)
		}
		if bytes.HasPrefix(raw, []byte("{")) {
			return "" // nothing to fill in by hand
		}
		query.Set(name, text)
	}
	return photonURL(r.Photon) + templ.SafeURL("?"+query.Encode())
}

// announcement tells how a run stands, for those who don't see it.
func announcement(r *timeline.Run) string {
	if n := len(r.Open); n > 0 {
		return fmt.Sprintf("%s: %s", count(n, "question waits", "questions wait"), message(r.Open[n-1].Open))
	}
	switch r.State {
	case run.Running:
		return "The run is going on."
	case run.Failed:
		return "The run failed: " + r.Error
	}
	return "The run is " + string(r.State) + "."
}

type levelOf = generators.Level

// levelClass is a level as a class of ours, so that no other can come in.
func levelClass(l generators.Level) string {
	switch l {
	case generators.Debug, generators.Info, generators.Success, generators.Notice, generators.Warning, generators.Error:
		return string(l)
	case generators.Critical, generators.Alert, generators.Emergency:
		return "error"
	}
	return "info"
}

// wordOf is the word for a level that is shown by colour and sign alone.
func wordOf(l generators.Level) string {
	switch levelClass(l) {
	case "success":
		return "Success"
	case "warning":
		return "Warning"
	case "error":
		return "Error"
	}
	return ""
}

func rowClass(i *timeline.Item) string {
	switch i.Kind {
	case timeline.Asked:
		return string(i.Ask.State)
	case timeline.Result:
		return string(i.State)
	case timeline.Status, timeline.Toast, timeline.Log, timeline.Step:
		return levelClass(i.Level)
	}
	return ""
}

func emptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// jsonText is a JSON string's text.
func jsonText(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/timeline"
)

// followExpression is the expression that opens the page's stream after what the page
// shows. Reconnecting, Datastar says in a header what came last; so a page that
// comes back can be told from one that is new.
func followExpression(r *timeline.Run) string {
	return "@get('/runs/" + sanitizeID(r.ID) + "/events?after=" + strconv.FormatUint(r.LastSeq, 10) +
		"',{retry:'always',retryInterval:300,retryMaxCount:Infinity,requestCancellation:'cleanup'})"
}

// connectionSignals are the signals of a page's stream: whether it is away, and whether
// it is only to come back soon, which is nothing to speak of.
const connectionSignals = "{_away: false, _soon: false}"

// connectionExpression notes when the page's stream is away; the server says when it is back.
const connectionExpression = "evt.detail.el === el && (evt.detail.type === 'retrying' || evt.detail.type === 'error') && ($_soon ? $_soon = false : $_away = true)"

func stopExpression(r *timeline.Run) string {
	return "@post('/runs/" + sanitizeID(r.ID) + "/cancel',{contentType:'form',retry:'never'})"
}

// showExpression is the expression that brings a question up again.
func showExpression(a *timeline.Ask) string {
	return "document.getElementById('" + askElementID(a.ID) + "')?.show()"
}

// startClockExpression and showClock keep the elapsed time going between patches.
func startClockExpression(r *timeline.Run) string {
	return fmt.Sprintf("$_start = Date.now() - %d; $_ms = Date.now() - $_start", elapsedSince(r.Started, r.Ended).Milliseconds())
}

const clockExpression = "(s => (s >= 3600 ? Math.floor(s / 3600) + ':' + String(Math.floor(s / 60) % 60).padStart(2, '0') : Math.floor(s / 60)) + ':' + String(s % 60).padStart(2, '0'))(Math.floor(($_ms ?? 0) / 1000))"

func runTitle(r *timeline.Run) string {
	return titleOrName(r.Title, r.Photon) + " · run " + r.ShortID()
}

// What of a run's input is offered to be run again, in bytes.
const (
	maxRerunArguments = 64 << 10
	maxEditArguments  = 1500 // it stands in an address
)

// rerunArguments is the input of a run for another of the same; empty if it is not
// known or too large to be held in a page.
func rerunArguments(r *timeline.Run) string {
	if len(r.Args) > maxRerunArguments || !json.Valid(r.Args) {
		return ""
	}
	return string(r.Args)
}

// editURL is the address of the photon's form with a run's input filled in; empty
// if there is none, or more than an address should hold.
func editURL(r *timeline.Run) templ.SafeURL {
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
			return "" // nothing to fill in by hand
		}
		query.Set(name, text)
	}
	return photonURL(r.Photon) + templ.SafeURL("?"+query.Encode())
}

// announceState tells how a run stands, for those who don't see it.
func announceState(r *timeline.Run) string {
	if n := len(r.Open); n > 0 {
		return fmt.Sprintf("%s: %s", formatCount(n, "question waits", "questions wait"), questionText(r.Open[n-1].OpenAsk))
	}
	switch r.State {
	case engine.Running:
		return "The run is going on."
	case engine.Failed:
		return "The run failed: " + r.Error
	}
	return "The run is " + string(r.State) + "."
}

type level = generators.Level

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

// levelLabel is the word for a level that is shown by colour and sign alone.
func levelLabel(l generators.Level) string {
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

func isEmptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// jsonString is a JSON string's text.
func jsonString(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

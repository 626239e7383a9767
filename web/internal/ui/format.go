package ui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// formatOffset formats the time since the start of a run: "0.3" seconds, "1:23",
// "1:02:03".
func formatOffset(from, at time.Time) string {
	d := max(at.Sub(from), 0)
	if from.IsZero() {
		d = 0
	}
	if d < time.Minute-50*time.Millisecond {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64)
	}
	return humanize.Clock(d)
}

// formatAgo formats how long ago t was, roughly: "just now", "5 min ago".
func formatAgo(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return humanize.Ago(time.Since(t))
}

// formatAgoShort is a shorter [formatAgo] for lists: "now", "5 min", "3 h".
func formatAgoShort(t time.Time) string {
	switch s := strings.TrimSuffix(formatAgo(t), " ago"); {
	case s == "just now":
		return "now"
	case strings.HasSuffix(s, " days"):
		return strings.TrimSuffix(s, "ays")
	default:
		return s
	}
}

// dateOf returns the date of a filter's date or time, for a date field.
func dateOf(text string) string { return text[:min(len(text), len(time.DateOnly))] }

// elapsedSince returns how long a run took, or has taken so far.
func elapsedSince(started, ended time.Time) time.Duration {
	switch {
	case started.IsZero():
		return 0
	case ended.IsZero():
		return max(time.Since(started), 0)
	}
	return max(ended.Sub(started), 0)
}

// formatTimestamp formats a time for a datetime attribute.
func formatTimestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// describeSurface describes the surface that started a run or answered.
func describeSurface(name string) string {
	switch name {
	case "browser":
		return "in the browser"
	case "http":
		return "over HTTP"
	case "mcp":
		return "over MCP"
	case "mcp task":
		return "over MCP, as a task"
	case "terminal":
		return "at the terminal"
	case engine.ReplaySurface:
		return "as in an earlier run"
	case sampling.Surface:
		return "with a model"
	case "":
		return ""
	}
	if client, ok := strings.CutPrefix(name, "app "); ok {
		return "through " + client + "’s app" + notVerified
	}
	return "by " + name
}

// notVerified says of an answer that nobody has signed in where it came from.
const notVerified = ", person not verified"

// describeAnswerer describes the surface that an answer came from.
func describeAnswerer(name string) string {
	switch name {
	case "mcp":
		return "by the MCP client"
	case sampling.Surface:
		return "by the model"
	}
	return describeSurface(name)
}

// currentState returns a run's state as its page shows it.
func currentState(r *timeline.Run) string {
	switch {
	case r.State == engine.Waiting:
		return "waiting for an answer"
	case r.State == engine.Sleeping:
		return "sleeping until " + r.Wakes.UTC().Format("2006-01-02 15:04 UTC")
	case r.Queued():
		return "waiting for another run"
	}
	return stateName(r.State, r.Reason)
}

// stateName returns a run's state in a word or two; reason is an unanswered run's.
func stateName(s engine.State, reason runlog.UnansweredReason) string {
	if s == engine.Unanswered {
		return outcome.Find(runlog.Unanswered, reason).Label
	}
	return string(s)
}

// describeOutcome describes the outcome of a question.
func describeOutcome(a *timeline.Ask) string {
	by := describeAnswerer(a.By)
	if a.Person != "" {
		by = strings.TrimSpace("by " + a.Person + " " + describeSurface(a.By))
	}
	if !a.Settled.IsZero() && !a.Since.IsZero() {
		after := " after "
		if strings.HasSuffix(by, notVerified) {
			after = "," + after
		}
		by = strings.TrimSpace(by + after + humanize.Duration(a.Settled.Sub(a.Since)))
	}
	switch a.State {
	case timeline.Answered:
		if a.Secret() {
			return strings.TrimSpace("answered "+by) + " (secret)"
		}
		if a.Edited {
			return strings.TrimSpace("answered "+by) + ", who changed the model’s reply"
		}
		return strings.TrimSpace("answered " + by)
	case timeline.Declined:
		return strings.TrimSpace(outcome.OfAnswer(askdata.Decline) + " " + by)
	case timeline.Dismissed:
		return strings.TrimSpace(outcome.OfAnswer(askdata.Cancel) + " " + by)
	case timeline.Expired:
		return "expired: nobody answered in time"
	case timeline.Withdrawn:
		return "withdrawn: " + withdrawalReason(a)
	}
	return "waiting for an answer"
}

func withdrawalReason(a *timeline.Ask) string {
	reason := "the run ended first"
	switch a.Reason {
	case runlog.Unsupported:
		reason = "nobody could be asked"
	case runlog.Invalid:
		reason = "the answers were invalid"
	case runlog.TakenBack:
		reason = "the tool took it back"
	}
	if a.Problem != "" {
		reason += " (" + strings.TrimSuffix(a.Problem, ".") + ")"
	}
	return reason
}

// formatAmount formats an amount: 48,219 or 1.5.
func formatAmount(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return humanize.Thousands(int(f))
	}
	return humanize.Number(math.Round(f*100) / 100)
}

// formatPercent formats a fraction as a whole percentage, rounded down so that 100 %
// means complete.
func formatPercent(f float64) string {
	p := int(math.Floor(f * 100))
	return strconv.Itoa(p) + " %"
}

// askElementID returns the id of an ask's dialog. It drops everything but hexadecimal
// digits, dots and dashes, since the id becomes part of expressions.
func askElementID(ask string) string {
	return "ask-" + strings.Map(func(r rune) rune {
		switch {
		case r == '.':
			return '-'
		case r >= '0' && r <= '9', r >= 'a' && r <= 'f', r == '-':
			return r
		}
		return -1
	}, ask)
}

// sanitizeID drops everything from an id but hexadecimal digits, dots and dashes, since
// it becomes part of expressions that Datastar evaluates.
func sanitizeID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r == '-' || r == '.' {
			return r
		}
		return -1
	}, id)
}

package checker

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
)

// A play is what happens in a run: which photon it is of, what its questions are answered, and
// what it must return.
type play struct {
	photon    string
	millis    int
	answers   map[string]answer // by the question's key
	steps     []string
	fallback  func(method string) answer // of questions whose keys aren't known; nil if there are none
	fragile   bool                       // not durable: the program's end interrupts it
	stop      bool                       // it is stopped when it asks
	status    string                     // in which it ends
	reason    string
	hasResult func(result string) error // nil for the one that photons returns
}

// An answer says how to answer a question, and how the result shows that.
type answer struct {
	content   string // JSON
	secret    string
	file      []byte
	result    string // of a model or a client, instead of an action and content
	action    string // instead of accept
	ignored   bool   // nobody answers
	approver  bool   // it is the approver's
	competing string // the content of a second answer at the same time
	shown     string
	competed  string // how the result shows the second answer
}

// textAnswer returns the answer to a question for a text that only this run gives, with which
// another one competes sometimes.
func (r *run) textAnswer(key string) answer {
	text := fmt.Sprintf("%s of %s", key, r.name)
	a := answer{content: fmt.Sprintf(`{%q:%q}`, key, text), shown: text}
	if r.random.IntN(3) == 0 {
		a.competed = text + ", or not"
		a.competing = fmt.Sprintf(`{%q:%q}`, key, a.competed)
	}
	return a
}

// plays has the plays of a client, in turn.
var plays = []func(*run) play{
	surveyPlay,
	func(r *run) play {
		content := make([]byte, 1+r.random.IntN(300_000))
		for i := range content {
			content[i] = byte(r.random.IntN(256))
		}
		word := base64.RawURLEncoding.EncodeToString(fmt.Append(nil, "secret of ", r.name))
		return play{photon: "vault", steps: []string{"lock"}, answers: map[string]answer{
			"secret": {secret: word, shown: photons.Digest([]byte(word))},
			"file":   {file: content, shown: photons.Digest(content)},
			"text":   r.textAnswer("text"),
		}}
	},
	func(r *run) play {
		poem := "a poem of " + r.name
		return play{photon: "oracle", steps: []string{"read"}, answers: map[string]answer{
			"poem":    {result: fmt.Sprintf(`{"role":"assistant","content":{"type":"text","text":%q},"model":"a person"}`, poem), shown: poem},
			"folders": {result: `{"roots":[{"uri":"file:///srv/a"},{"uri":"file:///srv/b"}]}`, shown: "file:///srv/afile:///srv/b"},
		}}
	},
	func(r *run) play {
		p := play{photon: "together", answers: make(map[string]answer)}
		for _, key := range []string{"left", "middle", "right"} {
			p.answers[key], p.steps = r.textAnswer(key), append(p.steps, "go "+key)
		}
		return p
	},
	func(r *run) play {
		return play{photon: "night", millis: r.random.IntN(2000), steps: []string{"lie down", "get up"}}
	},
	func(r *run) play {
		approval := r.textAnswer("approve")
		approval.approver, approval.competing = true, ""
		return play{photon: "approval", steps: []string{"pay"}, answers: map[string]answer{"text": r.textAnswer("text"), "approve": approval}}
	},
	func(*run) play {
		return play{photon: "hurried", millis: 300, answers: map[string]answer{"text": {ignored: true}}, status: "unanswered", reason: "expired"}
	},
	func(r *run) play {
		return play{photon: "brief", answers: map[string]answer{"text": r.textAnswer("text")}, fragile: true}
	},
	func(*run) play {
		return play{photon: "survey", answers: map[string]answer{"text": {action: "decline"}}, status: "unanswered", reason: "declined"}
	},
	func(*run) play {
		return play{photon: "survey", answers: map[string]answer{"text": {ignored: true}}, stop: true, status: "stopped"}
	},
	func(r *run) play { return r.upstreamPlay("ask_in_turn", 2) },
	func(r *run) play { return r.upstreamPlay("ask_everybody", 3) },
}

// choosePlay returns the nth play.
func choosePlay(c *Checker, r *run, n int) play {
	p := plays[n%len(plays)](r)
	if c.Upstream == "" && p.fallback != nil {
		return surveyPlay(r)
	}
	return p
}

func surveyPlay(r *run) play {
	age := 18 + r.random.IntN(80)
	profile := fmt.Sprintf(`{"name":%q,"email":"ada@example.org","role":"admin","age":%d}`, r.name, age)
	return play{photon: "survey", steps: []string{"reserve", "book"}, answers: map[string]answer{
		"text":    r.textAnswer("text"),
		"sure":    {content: `{"sure":true}`, shown: "true"},
		"choice":  {content: `{"choice":"green"}`, shown: "green"},
		"several": {content: `{"several":["a","c"]}`, shown: "ac"},
		"profile": {content: profile, shown: fmt.Sprintf("%s ada@example.org admin %d", r.name, age)},
	}}
}

// upstreamPlay returns the play of a tool of the test server, whose result shows the answers.
func (r *run) upstreamPlay(tool string, questions int) play {
	var shown []string
	return play{
		photon: r.checker.Upstream + "__" + tool, fragile: true,
		fallback: func(method string) (a answer) {
			text := fmt.Sprintf("answer %d of %s", len(shown)+1, r.name)
			switch method {
			case "sampling/createMessage":
				a = answer{result: fmt.Sprintf(`{"role":"assistant","content":{"type":"text","text":%q},"model":"a person"}`, text), shown: text}
			case "roots/list":
				a = answer{result: `{"roots":[{"uri":"file:///srv/a"}]}`, shown: "file:///srv/a"}
			default:
				a = answer{content: fmt.Sprintf(`{"name":%q}`, text), shown: text}
			}
			shown = append(shown, a.shown)
			return a
		},
		hasResult: func(result string) error {
			if len(shown) != questions {
				return fmt.Errorf("%d questions were asked, want %d", len(shown), questions)
			}
			for _, text := range shown {
				if !strings.Contains(result, text) {
					return fmt.Errorf("%q is missing in %s", text, result)
				}
			}
			return nil
		},
	}
}

// checkResult checks that a run has returned all of its answers and steps, and no others.
func (r *run) checkResult(raw json.RawMessage) error {
	if r.play.hasResult != nil {
		return r.play.hasResult(string(raw))
	}
	var result struct{ StructuredContent photons.Outcome }
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	out := result.StructuredContent
	want := make(map[string]string)
	for key := range r.play.answers {
		want[key] = r.given[key]
		if slices.Contains(r.maybe[key], out.Answers[key]) {
			want[key] = out.Answers[key]
		}
	}
	if !maps.Equal(out.Answers, want) {
		return fmt.Errorf("it has returned the answers %q, want %q", out.Answers, want)
	}
	if len(out.Steps) != len(r.play.steps) {
		return fmt.Errorf("it has returned the steps %q, want %q", out.Steps, r.play.steps)
	}
	for _, step := range r.play.steps {
		if err := r.checker.checkStep(r.name+"/"+step, out.Steps[step]); err != nil {
			return err
		}
		if told := fmt.Sprintf("step %s: %s", step, out.Steps[step]); r.countEvents(told) != 1 {
			return fmt.Errorf("its stream tells %q %d times, want once", told, r.countEvents(told))
		}
	}
	return nil
}

// countEvents counts the events that contain a text.
func (r *run) countEvents(text string) (n int) {
	for _, e := range r.events {
		if strings.Contains(e.data, text) {
			n++
		}
	}
	return n
}

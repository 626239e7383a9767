package kitchensink_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

func run(t *testing.T, kind string, script beamtest.Script) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, kitchensink.Photon, kitchensink.Choice{Ask: kind}, script)
}

var accepted = map[string]struct {
	response beamtest.Response
	want     string
}{
	"text":        {beamtest.Accept("Beam"), `"Beam"`},
	"secret":      {beamtest.Accept("hunter2!"), `{"length":8}`},
	"confirm":     {beamtest.Accept(false), `false`},
	"select":      {beamtest.Accept("prod"), `"prod"`},
	"multiselect": {beamtest.Accept([]string{"auth", "tracing"}), `["auth","tracing"]`},
	"number":      {beamtest.Accept(7.5), `7.5`},
	"integer":     {beamtest.Accept(20), `20`},
	"date":        {beamtest.Accept("2026-12-31"), `"2026-12-31"`},
	"datetime":    {beamtest.Accept("2027-01-01T18:30:00+02:00"), `"2027-01-01T18:30:00+02:00"`},
	"file": {beamtest.Accept(beamtest.File{Name: "a.bin", Content: make([]byte, 1<<20)}),
		`{"name":"a.bin","size":1048576,"mediaType":"application/octet-stream"}`},
	"form":     {beamtest.Accept(kitchensink.Signup{Name: "Ada", Email: "ada@example.org"}), `{"name":"Ada","email":"ada@example.org"}`},
	"url":      {beamtest.Accept(nil), `true`},
	"evidence": {beamtest.Accept(true), `true`},
}

// Every kind of question has an example, except the two that no form asks.
func TestEveryKindOfQuestion(t *testing.T) {
	browserAnswers, err := os.ReadFile("../../../e2e/support/question-kinds.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range askdata.Kinds() {
		kind := string(k)
		if k == askdata.KindSample || k == askdata.KindRoots {
			continue
		}
		if _, ok := accepted[kind]; !ok {
			t.Errorf("accepted has no answer to the kind %q", kind)
		}
		if _, err := kitchensink.Photon.Check(fmt.Appendf(nil, `{"ask":%q}`, kind)); err != nil {
			t.Errorf("the field Choice.Ask does not offer the kind %q: %v", kind, err)
		}
		if !bytes.Contains(browserAnswers, []byte("\n  "+kind+": {")) {
			t.Errorf("e2e/support/question-kinds.js has no answers to the kind %q", kind)
		}
	}
}

func TestAccepted(t *testing.T) {
	for kind, test := range accepted {
		t.Run(kind, func(t *testing.T) {
			p := run(t, kind, beamtest.Script{kind: test.response})
			want := `{"action":"accept","answer":` + test.want + `}`
			if p.Err != nil || string(p.Result) != want {
				t.Errorf("got %s, %v; want %s", p.Result, p.Err, want)
			}
			q, wantKind := p.Questions[kind], kind
			if kind == "evidence" {
				wantKind = string(askdata.KindConfirm)
			}
			if q.Kind != wantKind || (len(q.Evidence) > 0) != (kind == "evidence") {
				t.Errorf("asked for a %s that shows %d artifacts, want a %s", q.Kind, len(q.Evidence), wantKind)
			}
		})
	}
}

func TestFormKeepsEveryField(t *testing.T) {
	const content = `{"name":"Ada","email":"ada@example.org","age":36,"role":"dev","topics":["auth","metrics"],"newsletter":false,"website":"https://example.org/ada"}`
	p := run(t, "form", beamtest.Script{"form": beamtest.Accept(json.RawMessage(content))})
	if want := `{"action":"accept","answer":` + content + `}`; string(p.Result) != want {
		t.Errorf("got %s, %v; want %s", p.Result, p.Err, want)
	}
}

func TestFormIsTheDefault(t *testing.T) {
	script := beamtest.Script{"form": beamtest.Decline()}
	p := beamtest.Run(t, kitchensink.Photon, "{}", script)
	if want := `{"action":"decline"}`; string(p.Result) != want {
		t.Errorf("got %s, %v; want %s", p.Result, p.Err, want)
	}
}

func TestInvalidAnswers(t *testing.T) {
	for _, test := range []struct{ kind, content string }{
		{"text", `{"text":"B"}`}, {"text", `{"text":"` + strings.Repeat("b", 41) + `"}`}, {"text", `{}`}, {"secret", `{}`}, {"confirm", `{}`},
		{"select", `{"select":"Production"}`}, {"multiselect", `{"multiselect":[]}`},
		{"multiselect", `{"multiselect":["auth","logging","metrics"]}`}, {"multiselect", `{"multiselect":["auth","auth"]}`},
		{"number", `{"number":7.3}`}, {"number", `{"number":10.5}`}, {"integer", `{"integer":0}`}, {"integer", `{"integer":2.5}`},
		{"date", `{"date":"2025-12-31"}`}, {"date", `{"date":"2027-01-01"}`}, {"datetime", `{"datetime":"2027-01-01"}`},
		{"form", `{"name":"Ada"}`}, {"form", `{"name":"Ada","email":"ada@example.org","age":17}`},
		{"form", `{"name":"Ada","email":"ada@example.org","topics":["auth","logging","metrics"]}`},
		{"form", `{"name":"Ada","email":"ada@example.org","website":"example.org"}`},
	} {
		p := run(t, test.kind, beamtest.Script{test.kind: beamtest.Accept(json.RawMessage(test.content))})
		var invalid *generators.InvalidError
		if !errors.As(p.Err, &invalid) {
			t.Errorf("%s %s: got %s, %v", test.kind, test.content, p.Result, p.Err)
		}
	}
	p := run(t, "file", beamtest.Script{"file": beamtest.Accept(beamtest.File{Name: "a.bin", Content: make([]byte, 1<<20+1)})})
	if p.Err == nil {
		t.Errorf("a file of more than 1 MB was accepted: %s", p.Result)
	}
}

func TestUnansweredQuestion(t *testing.T) {
	responses := map[string]beamtest.Response{
		"decline": beamtest.Decline(), "cancel": beamtest.Cancel(), "timeout": beamtest.Fail(ask.ErrTimeout),
	}
	for kind := range accepted {
		for action, response := range responses {
			p := run(t, kind, beamtest.Script{kind: response})
			if want := fmt.Sprintf(`{"action":%q}`, action); p.Err != nil || string(p.Result) != want {
				t.Errorf("%s: got %s, %v; want %s", kind, p.Result, p.Err, want)
			}
		}
	}
}

func TestOtherErrorsEndTheRun(t *testing.T) {
	for _, want := range []error{ask.ErrUnsupported, ask.ErrStopped, ask.ErrSuspended, &ask.PolicyError{Reason: "too many"}} {
		p := run(t, "text", beamtest.Script{"text": beamtest.Fail(want)})
		if !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
	}
}

func TestAll(t *testing.T) {
	name, environment := beamtest.Accept("Beam"), beamtest.Accept("staging")
	for _, test := range []struct {
		name, environment beamtest.Response
		want              string
		err               error
	}{
		{name, environment, `{"action":"accept","answer":{"name":"Beam","environment":"staging"}}`, nil},
		{beamtest.Decline(), environment, `{"action":"decline"}`, nil},
		{name, beamtest.Cancel(), `{"action":"cancel"}`, nil},
		{beamtest.Cancel(), beamtest.Decline(), `{"action":"decline"}`, nil},
		{beamtest.Fail(ask.ErrTimeout), beamtest.Cancel(), `{"action":"cancel"}`, nil},
		{beamtest.Fail(ask.ErrTimeout), environment, `{"action":"timeout"}`, nil},
		{beamtest.Decline(), beamtest.Fail(ask.ErrUnsupported), ``, ask.ErrUnsupported},
	} {
		p := run(t, "all", beamtest.Script{"name": test.name, "environment": test.environment})
		if !errors.Is(p.Err, test.err) || string(p.Result) != test.want {
			t.Errorf("got %s, %v; want %s, %v", p.Result, p.Err, test.want, test.err)
		}
	}
}

func TestSecretIsNotDisclosed(t *testing.T) {
	p := run(t, "secret", beamtest.Script{"secret": accepted["secret"].response})
	yielded := string(p.Result)
	for _, e := range p.Events {
		_, data, err := driver.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		yielded += string(data)
	}
	if strings.Contains(yielded, "hunter2") {
		t.Error("the secret is in an event or the result")
	}
}

func TestUnknownKind(t *testing.T) {
	if _, err := kitchensink.Photon.Check(json.RawMessage(`{"ask":"riddle"}`)); err == nil || !strings.Contains(err.Error(), "must be one of text") {
		t.Errorf("got %v", err)
	}
}

// Every run yields the same events and asks the same question, as a durable photon must.
func TestReplay(t *testing.T) {
	for kind, test := range accepted {
		beamtest.Replay(t, kitchensink.Photon, kitchensink.Choice{Ask: kind}, beamtest.Script{kind: test.response})
	}
	both := beamtest.Script{"name": beamtest.Accept("Beam"), "environment": beamtest.Accept("staging")}
	beamtest.Replay(t, kitchensink.Photon, kitchensink.Choice{Ask: "all"}, both)
}

package wizard_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/internal/photontest"
	"github.com/photon-beam/beam/generators/wizard"
)

// script returns responses that answer every question, except for the changes.
func script(changes photontest.Script) photontest.Script {
	s := photontest.Script{
		"name":    photontest.Accept(`{"name":"Ada"}`),
		"account": photontest.Accept(`{"email":"ada@example.org","role":"editor"}`),
		"confirm": photontest.Accept(`{"confirm":true}`),
	}
	for key, response := range changes {
		s[key] = response
	}
	return s
}

func run(t *testing.T, changes photontest.Script) *photontest.Outcome {
	t.Helper()
	return photontest.Runner{Script: script(changes)}.Run(t, wizard.Photon, "{}")
}

func TestWizard(t *testing.T) {
	for content, confirmed := range map[string]bool{`{"confirm":true}`: true, `{"confirm":false}`: false} {
		p := run(t, photontest.Script{"confirm": photontest.Accept(content)})
		got := photontest.Decode[wizard.Registration](t, p)
		want := wizard.Registration{Name: "Ada", Email: "ada@example.org", Role: "editor", Confirmed: confirmed, Reservation: got.Reservation}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if !regexp.MustCompile(`^\d{8}$`).MatchString(got.Reservation) {
			t.Errorf("the reservation number is %q, want eight digits", got.Reservation)
		}
		if !slices.Contains(p.Statuses(), "reserved "+got.Reservation) {
			t.Errorf("the statuses are %q; none says that %s is reserved", p.Statuses(), got.Reservation)
		}
		photontest.GoldenPhoton(t, wizard.Photon, p)
	}
	photontest.CheckPhoton(t, wizard.Photon)
}

func TestConfirmationShowsTheData(t *testing.T) {
	p := run(t, nil)
	got := photontest.Decode[wizard.Registration](t, p)
	for _, text := range []string{got.Name, got.Email, got.Role, got.Reservation} {
		if q := p.Asked["confirm"]; !strings.Contains(q.Message, text) {
			t.Errorf("the confirmation %q doesn't show %q", q.Message, text)
		}
	}
}

func TestNumbersDiffer(t *testing.T) {
	a := photontest.Decode[wizard.Registration](t, run(t, nil))
	b := photontest.Decode[wizard.Registration](t, run(t, nil))
	if a.Reservation == b.Reservation {
		t.Errorf("two runs drew %s", a.Reservation)
	}
}

func TestUnansweredQuestionEndsTheRun(t *testing.T) {
	responses := map[error]photontest.Response{
		ask.ErrDeclined: photontest.Decline(), ask.ErrCancelled: photontest.Cancel(), ask.ErrTimeout: photontest.Fail(ask.ErrTimeout),
	}
	for _, key := range []string{"name", "account", "confirm"} {
		for want, response := range responses {
			p := run(t, photontest.Script{key: response})
			if !errors.Is(p.Err, want) || p.Result != nil {
				t.Errorf("%s: got %s, %v; want %v", key, p.Result, p.Err, want)
			}
		}
	}
}

func TestInvalidAccount(t *testing.T) {
	for _, content := range []string{`{"role":"editor"}`, `{"email":"ada","role":"editor"}`, `{"email":"ada@example.org","role":"owner"}`} {
		var invalid *generators.InvalidError
		if p := run(t, photontest.Script{"account": photontest.Accept(content)}); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
		}
	}
}

// A run that resumes keeps its reservation number.
func TestReplayKeepsTheNumber(t *testing.T) {
	recorded := map[string]string{
		"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`,
		"reserve": `"00000042"`, "confirm": `{"confirm":true}`,
	}
	var statuses []string
	var result json.RawMessage
	for e, err := range wizard.Photon.Run(t.Context(), json.RawMessage("{}")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *generators.Call:
			e.Settle(generators.Reply{Value: json.RawMessage(recorded[e.Key])})
		case *generators.StatusEvent:
			statuses = append(statuses, e.Text)
		case *generators.Result:
			result = e.Value
		}
	}
	if want := []string{"reserved 00000042"}; !slices.Equal(statuses, want) {
		t.Errorf("the statuses are %q, want %q", statuses, want)
	}
	if !strings.Contains(string(result), `"reservation":"00000042"`) {
		t.Errorf("got %s, want the recorded number", result)
	}
}

package wizard_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/wizard"
)

// script returns responses that answer every question, except for the changes.
func script(changes beamtest.Script) beamtest.Script {
	s := beamtest.Script{
		"name":    beamtest.Accept("Ada"),
		"account": beamtest.Accept(wizard.Account{Email: "ada@example.org", Role: "editor"}),
		"confirm": beamtest.Accept(true),
	}
	for key, response := range changes {
		s[key] = response
	}
	return s
}

func run(t *testing.T, changes beamtest.Script) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, wizard.Photon, "{}", script(changes))
}

func TestWizard(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		p := run(t, beamtest.Script{"confirm": beamtest.Accept(confirmed)})
		got := beamtest.Decode[wizard.Registration](t, p)
		want := wizard.Registration{Name: "Ada", Email: "ada@example.org", Role: "editor", Confirmed: confirmed, Reservation: got.Reservation}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if !regexp.MustCompile(`^\d{8}$`).MatchString(got.Reservation) {
			t.Errorf("the reservation number is %q, want eight digits", got.Reservation)
		}
		if !slices.Contains(p.Statuses(), "Reserved "+got.Reservation) {
			t.Errorf("the statuses are %q; none says that %s is reserved", p.Statuses(), got.Reservation)
		}
	}
}

func TestConfirmationShowsTheData(t *testing.T) {
	p := run(t, nil)
	got := beamtest.Decode[wizard.Registration](t, p)
	for _, text := range []string{got.Name, got.Email, got.Role, got.Reservation} {
		if q := p.Questions["confirm"]; !strings.Contains(q.Message, text) {
			t.Errorf("the confirmation %q doesn't show %q", q.Message, text)
		}
	}
}

func TestNumbersDiffer(t *testing.T) {
	a := beamtest.Decode[wizard.Registration](t, run(t, nil))
	b := beamtest.Decode[wizard.Registration](t, run(t, nil))
	if a.Reservation == b.Reservation {
		t.Errorf("two runs drew %s", a.Reservation)
	}
}

func TestUnansweredQuestionEndsTheRun(t *testing.T) {
	responses := map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(), ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout),
	}
	for _, key := range []string{"name", "account", "confirm"} {
		for want, response := range responses {
			p := run(t, beamtest.Script{key: response})
			if !errors.Is(p.Err, want) || p.Result != nil {
				t.Errorf("%s: got %s, %v; want %v", key, p.Result, p.Err, want)
			}
		}
	}
}

func TestInvalidAccount(t *testing.T) {
	for _, content := range []string{`{"role":"editor"}`, `{"email":"ada","role":"editor"}`, `{"email":"ada@example.org","role":"owner"}`} {
		var invalid *generators.InvalidError
		if p := run(t, beamtest.Script{"account": beamtest.Accept(json.RawMessage(content))}); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
		}
	}
}

// A run that resumes keeps its reservation number and asks for nothing twice.
func TestReplay(t *testing.T) {
	o := beamtest.Replay(t, wizard.Photon, nil, script(nil))
	if want := []string{"name", "account", "confirm"}; !slices.Equal(o.Asked, want) {
		t.Errorf("asked were %q, want %q", o.Asked, want)
	}
}

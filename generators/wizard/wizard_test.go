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

// script is a person who answers everything, but for the changes.
func script(changes photontest.Script) photontest.Script {
	s := photontest.Script{
		"name":    photontest.Accept(`{"name":"Ada"}`),
		"account": photontest.Accept(`{"email":"ada@example.org","role":"editor"}`),
		"confirm": photontest.Accept(`{"confirm":true}`),
	}
	for key, line := range changes {
		s[key] = line
	}
	return s
}

func play(t *testing.T, changes photontest.Script) *photontest.Outcome {
	t.Helper()
	return photontest.Runner{Script: script(changes)}.Run(t, wizard.Photon, "{}")
}

func TestWizard(t *testing.T) {
	for content, confirmed := range map[string]bool{`{"confirm":true}`: true, `{"confirm":false}`: false} {
		p := play(t, photontest.Script{"confirm": photontest.Accept(content)})
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
	p := play(t, nil)
	got := photontest.Decode[wizard.Registration](t, p)
	for _, said := range []string{got.Name, got.Email, got.Role, got.Reservation} {
		if q := p.Asked["confirm"]; !strings.Contains(q.Message, said) {
			t.Errorf("the confirmation %q doesn't show %q", q.Message, said)
		}
	}
}

func TestNumbersDiffer(t *testing.T) {
	a := photontest.Decode[wizard.Registration](t, play(t, nil))
	b := photontest.Decode[wizard.Registration](t, play(t, nil))
	if a.Reservation == b.Reservation {
		t.Errorf("two runs drew %s", a.Reservation)
	}
}

func TestNoAnswerEndsTheRun(t *testing.T) {
	lines := map[error]photontest.Response{
		ask.ErrDeclined: photontest.Decline(), ask.ErrCancelled: photontest.Cancel(), ask.ErrTimeout: photontest.Fail(ask.ErrTimeout),
	}
	for _, key := range []string{"name", "account", "confirm"} {
		for want, line := range lines {
			p := play(t, photontest.Script{key: line})
			if !errors.Is(p.Err, want) || p.Result != nil {
				t.Errorf("%s: got %s, %v; want %v", key, p.Result, p.Err, want)
			}
		}
	}
}

func TestInvalidAccount(t *testing.T) {
	for _, content := range []string{`{"role":"editor"}`, `{"email":"ada","role":"editor"}`, `{"email":"ada@example.org","role":"owner"}`} {
		var invalid *generators.InvalidError
		if p := play(t, photontest.Script{"account": photontest.Accept(content)}); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
		}
	}
}

// A run that is taken up again keeps the number that it told before.
func TestReplayKeepsTheNumber(t *testing.T) {
	recorded := map[string]string{
		"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`,
		"reserve": `"00000042"`, "confirm": `{"confirm":true}`,
	}
	var told []string
	var result json.RawMessage
	for e, err := range wizard.Photon.Run(t.Context(), json.RawMessage("{}")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *generators.Call:
			e.Settle(generators.Reply{Value: json.RawMessage(recorded[e.Key])})
		case *generators.StatusEvent:
			told = append(told, e.Text)
		case *generators.Result:
			result = e.Value
		}
	}
	if want := []string{"reserved 00000042"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if !strings.Contains(string(result), `"reservation":"00000042"`) {
		t.Errorf("got %s, want the recorded number", result)
	}
}

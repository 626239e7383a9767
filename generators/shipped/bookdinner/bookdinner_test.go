package bookdinner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/bookdinner"
	"github.com/photon-beam/beam/internal/askdata"
)

const dinnerInput = `{"date":"2026-11-22","time":"19:00"}`

func run(t *testing.T, args string, response beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, bookdinner.Photon, args, beamtest.Script{"partySize": response})
}

func TestConfirmation(t *testing.T) {
	for _, test := range []struct {
		date, time, guests, want string
	}{
		{"2026-11-22", "19:00", "4", "for 4 people on November 22nd at 7:00 PM"},
		{"2026-01-01", "00:05", "1", "for 1 person on January 1st at 12:05 AM"},
		{"2026-02-03", "12:00", "20", "for 20 people on February 3rd at 12:00 PM"},
		{"2026-03-11", "11:59", "2", "for 2 people on March 11th at 11:59 AM"},
		{"2026-04-12", "20:30", "2.0", "for 2 people on April 12th at 8:30 PM"},
		{"2026-05-13", "23:59", "2", "for 2 people on May 13th at 11:59 PM"},
		{"2028-02-29", "18:00", "2", "for 2 people on February 29th at 6:00 PM"},
		{"2026-07-31", "18:00", "2", "for 2 people on July 31st at 6:00 PM"},
	} {
		args := fmt.Sprintf(`{"date":%q,"time":%q}`, test.date, test.time)
		got := beamtest.Decode[string](t, run(t, args, beamtest.Accept(json.RawMessage(`{"partySize":`+test.guests+`}`))))
		whole := regexp.MustCompile(`^✓ Reservation confirmed (.*) at Chez Claude\. Confirmation #: RES-` + test.date[:4] + `-\d{3}$`)
		if m := whole.FindStringSubmatch(got); m == nil || m[1] != test.want {
			t.Errorf("got %q, want it to contain %q", got, test.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	p := run(t, dinnerInput, beamtest.Accept(4))
	if want := []string{"Checking availability for your reservation..."}; !slices.Equal(p.Statuses(), want) {
		t.Errorf("the statuses are %q, want %q", p.Statuses(), want)
	}
	if q := p.Questions["partySize"]; q.Message != "How many people will be dining?" {
		t.Errorf("the message is %q", q.Message)
	}
}

func TestArguments(t *testing.T) {
	if pattern := bookdinner.Photon.Input().Document().Properties["time"].Pattern; pattern != askdata.TimePattern {
		t.Errorf("the time's pattern is %q, not that of a time", pattern)
	}
	for _, args := range []string{
		`{}`, `{"date":"2026-11-22"}`, `{"date":"2026-11-31","time":"19:00"}`, `{"date":"22.11.2026","time":"19:00"}`,
		`{"date":"2026-11-22","time":"24:00"}`, `{"date":"2026-11-22","time":"7 PM"}`,
	} {
		if _, err := bookdinner.Photon.Check(json.RawMessage(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}

func TestGuests(t *testing.T) {
	for _, guests := range []string{"0", "21", "2.5", `"four"`} {
		p := run(t, dinnerInput, beamtest.Accept(json.RawMessage(`{"partySize":`+guests+`}`)))
		var invalid *generators.InvalidError
		if !errors.As(p.Err, &invalid) {
			t.Errorf("%s guests: got %s, %v", guests, p.Result, p.Err)
		}
	}
}

func TestNoAnswerBooksNothing(t *testing.T) {
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(), ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout),
	} {
		p := run(t, dinnerInput, response)
		if !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
		if len(p.Steps) > 0 {
			t.Errorf("after %v, a table was reserved", want)
		}
	}
}

// A run that resumes must confirm the same number.
func TestReplay(t *testing.T) {
	beamtest.Replay(t, bookdinner.Photon, dinnerInput, beamtest.Script{"partySize": beamtest.Accept(3)})
}

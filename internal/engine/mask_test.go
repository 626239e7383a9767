package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// Secrets are masked in the names of steps, questions and sleeps. A replay finds what was
// recorded under these, and the outcomes of two that differ only in the secret.
func TestSecretsAreMaskedInKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first, second = "hunter-two", "correct horse"
		done := make(map[string]int)
		b := newTestEngine(t, newPhoton("keys", func(_ context.Context, yield generators.Yield) (string, error) {
			var secrets []string
			for i := range 2 {
				s, err := ask.Secret(yield, fmt.Sprint("token", i), "Token?")
				if err != nil {
					return "", err
				}
				secrets = append(secrets, s)
			}
			var outcomes []string
			for i, s := range secrets {
				value, err := generators.Step(yield, "use "+s, func(context.Context) (int, error) { done[s]++; return i, nil })
				if err != nil {
					return "", err
				}
				_, err = generators.Step(yield, "revoke "+s, func(context.Context) (int, error) { return 0, errors.New("no") })
				var failed *generators.StepError
				if !errors.As(err, &failed) || failed.Key != "revoke "+s {
					t.Errorf("the error of the step is %#v", err)
				}
				if err := generators.Sleep(yield, "after "+s, time.Minute); err != nil {
					return "", err
				}
				if _, err := ask.Form[struct {
					Go bool `json:"go"`
				}](yield, "go "+s, "Go on?"); err != nil {
					return "", err
				}
				outcomes = append(outcomes, fmt.Sprint(value))
			}
			return strings.Join(outcomes, ","), nil
		}, &generators.Options{Durable: true}))
		id := b.startRun("keys", "")
		seq := uint64(0)
		var askID string
		for i, s := range []string{first, second} {
			askID, seq = b.waitForAsk(id, seq)
			b.acceptAsk(askID, fmt.Sprintf(`{"token%d":%q}`, i, s))
		}
		for range 2 {
			time.Sleep(time.Hour)
			synctest.Wait()
			askID, seq = b.waitForAsk(id, seq)
			time.Sleep(time.Hour) // the run is evicted, and replayed for the answer
			synctest.Wait()
			b.acceptAsk(askID, `{"go":true}`)
		}
		if f := b.waitForEnd(id); string(f.Result) != `"0,1"` || done[first] != 1 || done[second] != 1 {
			t.Errorf("finished = %+v, the steps ran %v times", f, done)
		}
		b.expectMasked(id, 8, first, second)
	})
}

// expectMasked checks that the log of a run has masks in place of secrets.
func (b *testEngine) expectMasked(id string, masks int, secrets ...string) {
	b.t.Helper()
	found := 0
	for _, e := range b.entries(id) {
		found += bytes.Count(e.Data, []byte("••••"))
		for _, s := range secrets {
			if bytes.Contains(e.Data, []byte(s)) {
				b.t.Errorf("the log has the secret: %.300s", e.Data)
			}
		}
	}
	if found < masks {
		b.t.Errorf("the log has %d masks, want %d", found, masks)
	}
}

// Secrets are masked in what a run says of its end, however it ends, and in Beam's own log.
func TestSecretsAreMaskedAtTheEnd(t *testing.T) {
	const token = "hunter-two"
	ends := map[string]func(yield generators.Yield, secret string) (string, error){
		"panics": func(_ generators.Yield, secret string) (string, error) { panic("no " + secret) },
		"large": func(_ generators.Yield, secret string) (string, error) {
			return strings.Repeat(secret+" ", 200_000), nil // streamed to readers from a file
		},
		"unanswered": func(yield generators.Yield, secret string) (string, error) {
			_, err := ask.Text(yield, "more", "More about "+secret+"?")
			return "", fmt.Errorf("without %s: %w", secret, err)
		},
		"takes back": func(yield generators.Yield, secret string) (string, error) {
			asked, done := make(chan *driver.Call, 1), make(chan error)
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				_, err := ask.Text(func(e generators.Event) bool {
					more := yield(e)
					if c, ok := driver.CallOf(e); ok {
						asked <- c
					}
					return more
				}, "more", "More?")
				done <- err
			})
			(<-asked).Withdraw("it was about " + secret)
			return "", <-done
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := testOptions(t, newPhoton("leaky", func(_ context.Context, yield generators.Yield) (string, error) {
				secret, err := ask.Secret(yield, "token", "Token?")
				if err != nil {
					return "", err
				}
				return end(yield, secret)
			}, nil))
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			b := openTestEngine(t, o)
			id := b.startRun("leaky", "")
			askID, seq := b.waitForAsk(id, 0)
			b.acceptAsk(askID, `{"token":"`+token+`"}`)
			if name == "unanswered" {
				askID, _ = b.waitForAsk(id, seq)
				if err := settle[runlog.ReasonDeclined](b, askID); err != nil {
					t.Error(err)
				}
			}
			f := b.waitForEnd(id)
			masks := 1
			if name == "panics" { // only Beam's own log says with what
				masks = 0
			}
			b.expectMasked(id, masks, token)
			if f.ResultSize > 0 {
				r, err := b.OpenResult(me, id, &f)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				text, err := io.ReadAll(r)
				if err != nil || bytes.Contains(text, []byte(token)) || bytes.Count(text, []byte("••••")) != 200_000 {
					t.Errorf("the result is %.100s, %v", text, err)
				}
			} else if name == "large" {
				t.Errorf("the result is not large: %+v", f)
			}
			if (name == "panics") != strings.Contains(log.String(), "••••") || strings.Contains(log.String(), token) {
				t.Errorf("Beam's log has %s", log.String())
			}
		})
	}
}

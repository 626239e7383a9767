package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A release has fields that JSON keeps, changes and omits.
type release struct {
	Version string
	At      time.Time
	private int
}

// A step has the same outcome live and in a replay, in which its function doesn't run.
func TestStepIsRecordedAndReplayed(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 5, time.FixedZone("", 3600))
	tests := []struct {
		name    string
		step    func(context.Context) (release, error)
		want    release
		wantErr string
	}{
		{"value", func(context.Context) (release, error) { return release{"1", at, 3}, nil }, release{Version: "1", At: at}, ""},
		{"error", func(context.Context) (release, error) { return release{"1", at, 3}, errors.New("no network") }, release{}, "no network"},
		{"no JSON", func(context.Context) (release, error) {
			return release{At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, nil
		}, release{}, "the step's value can't be encoded as JSON"},
		{"a long error", func(context.Context) (release, error) {
			return release{}, errors.New(strings.Repeat("x", 1<<20))
		}, release{}, "(truncated: 1048576 bytes in all)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ran := 0
			outcome := func(record *generators.Stepped) (got release, stepped *generators.Stepped, err error) {
				p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
					got, err = generators.Step(yield, "deploy", func(ctx context.Context) (release, error) { ran++; return tt.step(ctx) })
					return 0, nil
				})
				for e := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
					switch e := e.(type) {
					case *driver.Call:
						if record != nil {
							e.Settle(replyFromRecord(record))
						}
					case *generators.Stepped:
						stepped = e
					}
				}
				return got, stepped, err
			}
			live, record, liveErr := outcome(nil)
			again, rewritten, againErr := outcome(record)
			if ran != 1 || rewritten != nil {
				t.Errorf("the function ran %d times; the replay recorded %v", ran, rewritten)
			}
			if record.Key != "deploy" || !reflect.DeepEqual(live, again) || !reflect.DeepEqual(liveErr, againErr) {
				t.Errorf("live %+v (%v), replayed %+v (%v)", live, liveErr, again, againErr)
			}
			if live.Version != tt.want.Version || !live.At.Equal(tt.want.At) || live.private != 0 {
				t.Errorf("got %+v, want %+v, as decoded from JSON", live, tt.want)
			}
			var failed *generators.StepError
			if tt.wantErr == "" && liveErr != nil || tt.wantErr != "" && (!errors.As(liveErr, &failed) || !strings.Contains(liveErr.Error(), tt.wantErr)) {
				t.Errorf("error %v, want %q", liveErr, tt.wantErr)
			}
		})
	}
}

// replyFromRecord returns the reply with which an engine replays a step.
func replyFromRecord(s *generators.Stepped) driver.Reply {
	r := driver.Reply{Value: s.Value}
	if s.Error != "" {
		r.Err = &generators.StepError{Key: s.Key, Message: s.Error}
	}
	return r
}

func TestStepOfChangedType(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		return generators.Step(yield, "n", func(context.Context) (int, error) { return 1, nil })
	})
	for e, err := range driver.Prepare(t.Context(), p, json.RawMessage("{}")).All {
		if c, ok := driver.CallOf(e); ok {
			c.Settle(valueReply(`"a text"`))
		} else if err == nil || !strings.Contains(err.Error(), "the recorded value of step n") {
			t.Errorf("got %v, %v", e, err)
		}
	}
}

// The delay between retries doubles. Each retry is logged, and only the last outcome
// is recorded.
func TestRetries(t *testing.T) {
	tests := []struct {
		name     string
		fails    int // number of times that the function fails
		retries  int
		wait     time.Duration
		wantRuns int
		wantTook time.Duration
		wantErr  bool
	}{
		{"first time", 0, 3, time.Second, 1, 0, false},
		{"third time", 2, 3, time.Second, 3, 3 * time.Second, false},
		{"used up", 9, 3, time.Second, 4, 7 * time.Second, true},
		{"none", 9, 0, time.Second, 1, 0, true},
		{"less than none", 9, -1, time.Second, 1, 0, true},
		{"no wait", 2, 5, 0, 3, 0, false},
		{"up to a day", 3, 5, 20 * time.Hour, 4, (20 + 24 + 24) * time.Hour, false},
		{"no overflow", 3, 3, math.MaxInt64 / 4, 4, math.MaxInt64 / 4 * 3, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
					return generators.Step(yield, "s", func(context.Context) (int, error) {
						if runs++; runs <= tt.fails {
							return 0, errors.New("busy")
						}
						return runs, nil
					}, generators.Retries(tt.retries, tt.wait))
				})
				start := time.Now()
				events, _, err := drive(t.Context(), p, nil)
				if took := time.Since(start); runs != tt.wantRuns || took != tt.wantTook || (err != nil) != tt.wantErr {
					t.Errorf("%d runs in %v, error %v", runs, took, err)
				}
				records, warnings := 0, 0
				for _, e := range events {
					switch e.(type) {
					case *generators.Stepped:
						records++
					case *generators.LogEvent:
						warnings++
					}
				}
				if records != 1 || warnings != tt.wantRuns-1 {
					t.Errorf("%d records, %d warnings", records, warnings)
				}
			})
		})
	}
}

// A step that is stopped isn't recorded, so that it runs again when the run resumes.
func TestStoppedStepIsNotRecorded(t *testing.T) {
	tests := map[string]func(context.Context, context.CancelCauseFunc) (int, error){
		"while it works": func(ctx context.Context, cancel context.CancelCauseFunc) (int, error) {
			cancel(generators.ErrSuspended)
			<-ctx.Done()
			return 1, nil
		},
		"while it waits to be tried again": func(_ context.Context, cancel context.CancelCauseFunc) (int, error) {
			time.AfterFunc(time.Second, func() { cancel(generators.ErrSuspended) })
			return 0, errors.New("busy")
		},
	}
	for name, step := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
					return generators.Step(yield, "s", func(ctx context.Context) (int, error) { return step(ctx, cancel) },
						generators.Retries(5, time.Hour))
				})
				start := time.Now()
				events, _, err := drive(ctx, p, nil)
				if !errors.Is(err, generators.ErrSuspended) || time.Since(start) > time.Minute {
					t.Errorf("the run ended with %v after %v", err, time.Since(start))
				}
				for _, e := range events {
					if s, ok := e.(*generators.Stepped); ok {
						t.Errorf("recorded: %+v", s)
					}
				}
			})
		})
	}
}

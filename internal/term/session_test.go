package term

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
)

// An answer from elsewhere ends the form; the questions after it are asked.
func TestSettledElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		causes := make(chan error, 1)
		s := &Session{Runs: f, Asker: asker(func(ctx context.Context, q *Question, _ *generators.InvalidError) (runs.Answer, error) {
			if q.Key == "second" {
				return accept("second", "b"), nil
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return runs.Answer{}, context.Cause(ctx)
		})}
		go func() {
			first := f.askQuestion("first", askdata.KindText)
			synctest.Wait()
			f.append(runlog.KindAnswered, runlog.Answered{AskSeq: first, Surface: "browser", Answer: askdata.Answer{Action: askdata.Accept}})
			f.askQuestion("second", askdata.KindText)
			synctest.Wait()
			f.append(runlog.KindFinished, completed())
		}()
		finished, err := s.Follow(t.Context(), "r")
		if err != nil || finished.Status != runlog.Completed || len(f.answered) != 1 || string(f.answered[0].Content) != `{"second":"b"}` {
			t.Errorf("%v %+v %v", err, finished, f.answered)
		}
		if cause := <-causes; !errors.Is(cause, errSettledElsewhere) {
			t.Errorf("the form was ended by %v", cause)
		}
	})
}

// A question says above its form, and where it is only watched, that a restart loses it, also if
// the run ends with the process.
func TestLostQuestionsSaySo(t *testing.T) {
	const note = "This question is lost if Beam restarts."
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			asked := runlog.Asked{Key: "who", Question: &askdata.Question{Kind: askdata.KindText, Message: "Who?", Fields: askdata.Fields{{Name: "who", Type: "string"}}}, Lost: lost}
			v, screen, out := newTestView(60, false, false)
			watched := newFakeRuns()
			watched.append(runlog.KindAsked, asked)
			watched.append(runlog.KindFinished, completed())
			if _, err := (&Session{Runs: watched, View: v, Watch: true}).Follow(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			screen.Close()
			if strings.Contains(out.String(), note) != lost {
				t.Errorf("lost = %t: who watches reads\n%s", lost, out)
			}
			f := newFakeRuns()
			f.append(runlog.KindAsked, asked)
			s := &Session{Runs: f, Ends: true, Asker: asker(func(_ context.Context, q *Question, _ *generators.InvalidError) (runs.Answer, error) {
				if heading := q.heading(false, 60); strings.Contains(heading, note) != lost {
					t.Errorf("lost = %t: above the form is\n%s", lost, heading)
				}
				f.append(runlog.KindFinished, completed())
				return accept("who", "x"), nil
			})}
			if _, err := s.Follow(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An answer that comes too late, or is not valid, is no error: the log says who answered,
// and the form is shown again with what was wrong.
func TestRefusedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		invalid := &generators.InvalidError{Fields: []generators.FieldError{driver.At("first", "is wrong")}}
		f.refuse = []error{invalid, engine.ErrSettled}
		var told []*generators.InvalidError
		s := &Session{Runs: f, Asker: asker(func(_ context.Context, _ *Question, invalid *generators.InvalidError) (runs.Answer, error) {
			told = append(told, invalid)
			return accept("first", "x"), nil
		})}
		go func() {
			first := f.askQuestion("first", askdata.KindText)
			synctest.Wait()
			f.append(runlog.KindAnswered, runlog.Answered{AskSeq: first, Surface: "browser", Answer: askdata.Answer{Action: askdata.Accept}})
			f.append(runlog.KindFinished, completed())
		}()
		if finished, err := s.Follow(t.Context(), "r"); err != nil || finished.Status != runlog.Completed {
			t.Errorf("%v %+v", err, finished)
		}
		if len(told) != 2 || told[0] != nil || told[1] != invalid {
			t.Errorf("told %v", told)
		}
	})
}

// The first interrupt stops the run; a run that is only followed is left.
func TestInterrupt(t *testing.T) {
	for _, stops := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeRuns()
			ctx, cancel := context.WithCancel(t.Context())
			s := &Session{Runs: f, StopOnInterrupt: stops, Asker: asker(func(ctx context.Context, _ *Question, _ *generators.InvalidError) (runs.Answer, error) {
				<-ctx.Done()
				return runs.Answer{}, context.Cause(ctx)
			})}
			go func() {
				f.askQuestion("first", askdata.KindText)
				synctest.Wait()
				cancel()
			}()
			finished, err := s.Follow(ctx, "r")
			if stops && (err != nil || finished.Status != runlog.Stopped || f.cancelled != 1) || !stops && (!errors.Is(err, ErrInterrupted) || f.cancelled != 0) {
				t.Errorf("%v: %v %+v, cancelled %d times", stops, err, finished, f.cancelled)
			}
		})
	}
}

// A question that is left open is not asked again, and others are.
func TestPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		var asked []string
		s := &Session{Runs: f, Asker: asker(func(_ context.Context, q *Question, _ *generators.InvalidError) (runs.Answer, error) {
			asked = append(asked, q.Key)
			if q.Key == "first" {
				return runs.Answer{}, ErrPostponed
			}
			return runs.Answer{}, ErrLeft
		})}
		go func() {
			f.askQuestion("first", askdata.KindText)
			synctest.Wait()
			f.askQuestion("second", askdata.KindText)
		}()
		if _, err := s.Follow(t.Context(), "r"); !errors.Is(err, ErrLeft) || len(asked) != 2 {
			t.Errorf("%v; asked %q", err, asked)
		}
	})
}

// Without anybody to ask, the question is named; questions that were settled before the
// session began are not.
func TestUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		settled := f.askQuestion("settled", askdata.KindText)
		f.append(runlog.KindAnswered, runlog.Answered{AskSeq: settled, Surface: "browser", Answer: askdata.Answer{Action: askdata.Decline}})
		f.askQuestion("open", askdata.KindText)
		s := &Session{Runs: f, Known: 3}
		_, err := s.Follow(t.Context(), "r")
		var unanswered *UnansweredError
		if !errors.As(err, &unanswered) || unanswered.Question.Key != "open" {
			t.Errorf("%v", err)
		}
	})
}

// A run that is parked asks nobody, until it goes on; without anybody to ask, following it ends.
func TestParkedRun(t *testing.T) {
	parked := runlog.Parked{Reason: runlog.ParkedChanged, Detail: "it asks another question"}
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		asked := 0
		s := &Session{Runs: f, Asker: asker(func(ctx context.Context, q *Question, _ *generators.InvalidError) (runs.Answer, error) {
			if asked++; asked == 2 {
				return accept(q.Key, "a"), nil
			}
			<-ctx.Done()
			return runs.Answer{}, context.Cause(ctx)
		})}
		go func() {
			f.askQuestion("first", askdata.KindText)
			synctest.Wait()
			f.append(runlog.KindParked, parked)
			synctest.Wait()
			if asked != 1 {
				t.Errorf("it is asked %d times", asked)
			}
			f.append(runlog.KindClaimed, runlog.Claimed{Epoch: 2})
			synctest.Wait()
			f.append(runlog.KindFinished, completed())
		}()
		if _, err := s.Follow(t.Context(), "r"); err != nil || asked != 2 || len(f.answered) != 1 {
			t.Errorf("%v; it is asked %d times; %v", err, asked, f.answered)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuns()
		f.askQuestion("first", askdata.KindText)
		f.append(runlog.KindParked, parked)
		if _, err := (&Session{Runs: f, Known: 2}).Follow(t.Context(), "r"); !errors.Is(err, engine.ErrParked) || !strings.Contains(err.Error(), parked.Detail) {
			t.Errorf("without anybody to ask: %v", err)
		}
	})
}

// A question that others are to answer is not asked here, and doesn't end a session that
// can't ask.
func TestQuestionForOthers(t *testing.T) {
	for name, asker := range map[string]Asker{
		"with a form": asker(func(context.Context, *Question, *generators.InvalidError) (runs.Answer, error) {
			t.Error("it was asked")
			return runs.Answer{}, ErrLeft
		}),
		"without a terminal": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuns()
				f.others = "ben"
				s := &Session{Runs: f, Asker: asker}
				go func() {
					seq := f.askQuestion("go", askdata.KindText)
					synctest.Wait()
					f.append(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Decline}})
					f.append(runlog.KindFinished, completed())
				}()
				if finished, err := s.Follow(t.Context(), "run"); err != nil || finished.Status != runlog.Completed || len(f.answered) != 0 {
					t.Errorf("%+v, %v; answered %v", finished, err, f.answered)
				}
			})
		})
	}
}

// Who watches or answers a fork reads from which call on it takes nothing more, as its page says.
func TestForkSaysWhereItDiffers(t *testing.T) {
	for call, record := range map[string]func(f *fakeRuns, differs string){
		"question": func(f *fakeRuns, differs string) {
			f.append(runlog.KindAsked, runlog.Asked{Key: "who", Question: &askdata.Question{Kind: askdata.KindText, Message: "Who?"}, Differs: differs})
		},
		"step":  func(f *fakeRuns, differs string) { f.append(runlog.KindStepped, runlog.Stepped{Differs: differs}) },
		"sleep": func(f *fakeRuns, differs string) { f.append(runlog.KindSleeping, runlog.Sleeping{Differs: differs}) },
	} {
		for _, watch := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				v, screen, out := newTestView(200, false, false)
				f := newFakeRuns()
				record(f, "This call, \x1b[2J, differs.")
				record(f, "")
				f.append(runlog.KindFinished, completed())
				s := &Session{Runs: f, View: v, Watch: watch, Known: 3}
				if _, err := s.Follow(t.Context(), "r"); err != nil {
					t.Fatal(err)
				}
				screen.Close()
				if strings.Count(out.String(), "! This call, ␛[2J, differs.\n") != 1 || strings.Count(out.String(), "differs") != 1 {
					t.Errorf("%s, watched = %t: %q", call, watch, out)
				}
			})
		}
	}
}

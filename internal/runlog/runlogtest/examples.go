package runlogtest

import (
	"encoding/json"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// An Example is the log of a run.
type Example struct {
	Name    string
	Entries []runlog.Entry // with ordinals and times
}

// Examples returns logs that together have each kind of entry, event and question, for tests of
// all that reads logs.
func Examples() []Example {
	ada := generators.Caller{ID: "ada", Name: "Ada", Roles: []string{"approver"}}
	from := askdata.Fields{{Name: "name", Type: "string", Title: "Name", Required: true}}
	question := &askdata.Question{Kind: askdata.KindText, Message: "Who?", Fields: from}
	sample := &askdata.Question{Kind: askdata.KindSample, Message: "Summarize", Sample: asking.NewSample(&ask.SampleRequest{MaxTokens: 10})}
	started := func(s runlog.Started) runlog.Entry {
		s.Photon, s.Title, s.Surface, s.Args = "greet", "Greet", "browser", json.RawMessage(`{"times":1}`)
		s.SetStartedBy(generators.Caller{ID: "user:bob", Name: "Bob"})
		return runlog.NewEntry(runlog.KindStarted, s)
	}
	claimed := func(epoch int) runlog.Entry {
		return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: epoch, Program: "00c0ffee00c0ffee", Goroutines: true})
	}
	asked := func(key string, q *askdata.Question) runlog.Entry {
		return runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: key, Question: q, Deadline: exampleTime.Add(time.Hour), TimeSpent: askdata.Millis(time.Second)})
	}
	answered := runlog.Answered{AskSeq: 4, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Eve"}`)}, Surface: "browser", Caller: &ada, Shown: "00"}
	completed := runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed, Result: json.RawMessage(`"Hello"`), TimeSpent: askdata.Millis(2 * time.Second)})
	return numberExamples([]Example{
		{"completed", append([]runlog.Entry{started(runlog.Started{}), claimed(1)}, append(eventExamples(), completed)...)},
		{"answered", []runlog.Entry{
			started(runlog.Started{Durable: true, IdempotencyKey: "again", RetainFor: askdata.Millis(time.Hour)}), claimed(1),
			runlog.NewEntry("status", &generators.StatusEvent{Level: generators.Info, Text: "Asking"}), asked("who", question),
			runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: ada}), runlog.NewEntry(runlog.KindAnswered, answered), completed,
		}},
		{"two questions, one of which is withdrawn at the end", []runlog.Entry{
			started(runlog.Started{}), claimed(1), asked("first", question), asked("second", question).From("1"),
			runlog.NewEntry(runlog.KindAnswered, answered),
			runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 3, Reason: runlog.RunEnded}),
			runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Stopped, Surface: "browser", By: "Ada"}),
		}},
		{"questions of every kind", append(append([]runlog.Entry{started(runlog.Started{}), claimed(1)}, answeredQuestions(2, asked)...), completed)},
		{"a model replies", []runlog.Entry{
			started(runlog.Started{Samples: true}), claimed(1), asked("summary", sample),
			runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Approved: &runlog.Approval{Model: "small", ID: "small-1", Digest: "00", By: &ada, Surface: "browser"}}),
			runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Text: "Hel"}),
			runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Ended: &runlog.EndOfSampling{Error: "The model is overloaded.", InputTokens: 2}}),
			runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 3, Reason: runlog.Expired}),
			runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonExpired, Seq: 3, Message: "Summarize"}}),
		}},
		{"a step is repeated, then it sleeps", []runlog.Entry{
			started(runlog.Started{Durable: true}), claimed(1), stepEvent("one"), claimed(2),
			runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: "copy", Superseded: [][2]uint64{{3, 3}}}), stepEvent("two"),
			runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "copy", Value: json.RawMessage(`3`), TimeSpent: askdata.Millis(time.Second)}),
			runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "night", Until: exampleTime.Add(time.Hour)}),
			runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: 8}), completed,
		}},
		{"it is parked, and goes on", []runlog.Entry{
			started(runlog.Started{Durable: true}), claimed(1), asked("who", question),
			runlog.NewEntry(runlog.KindParked, runlog.Parked{Reason: runlog.ParkedChanged, Detail: "It asked \"who\".", Program: "01"}),
			claimed(2), runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: answered.Answer, Surface: "browser", Caller: &ada, Shown: "00"}), completed,
		}},
		{"it waits for another run, and is interrupted", []runlog.Entry{
			started(runlog.Started{Exclusive: "prod"}), runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}), claimed(1),
			runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Interrupted, Error: "Beam was restarted while this was running"}),
		}},
		{"it fails, with an entry of a later version", []runlog.Entry{
			started(runlog.Started{}), claimed(1), {Kind: "later", Data: json.RawMessage(`{"new":true}`)},
			runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: "no such host"}),
		}},
	})
}

// exampleTime is the time of the first entry of each example.
var exampleTime = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func numberExamples(examples []Example) []Example {
	for _, x := range examples {
		for i := range x.Entries {
			x.Entries[i].Seq, x.Entries[i].Time = uint64(i)+1, exampleTime.Add(time.Duration(i)*time.Second)
		}
	}
	return examples
}

// eventExamples returns an entry of each kind of event.
func eventExamples() []runlog.Entry {
	var all []runlog.Entry
	for _, e := range []generators.Event{
		&generators.StatusEvent{Level: generators.Info, Text: "Reading"},
		&generators.ProgressEvent{Done: 1, Total: 2, Text: "half"},
		&generators.LogEvent{Level: generators.Debug, Logger: "net", Data: "connected"},
		&generators.ChunkEvent{Text: "Hel"},
		&generators.ToastEvent{Level: generators.Success, Text: "Saved"},
		&generators.Artifact{Title: "Note", MediaType: "text/plain", Body: []byte("text")},
	} {
		kind, data, err := driver.Encode(e)
		if err != nil {
			panic(err) // our own events
		}
		all = append(all, runlog.Entry{Kind: runlog.Kind(kind), Data: data})
	}
	return all
}

// stepEvent returns a chunk that the step "copy" yields.
func stepEvent(text string) runlog.Entry {
	e := runlog.NewEntry("chunk", &generators.ChunkEvent{Text: text})
	e.Step = "copy"
	return e
}

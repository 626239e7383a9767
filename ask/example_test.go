package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// run runs a function that asks, with a script that stands for the people who answer,
// and prints what the function returns.
func run[T any](fn func(yield generators.Yield) (T, error), script beamtest.Script) {
	got := beamtest.Run(exampleTest{}, photon(fn), nil, script)
	if got.Err != nil {
		fmt.Println("error:", got.Err)
		return
	}
	fmt.Println(string(got.Result))
}

// exampleTest stands for the *testing.T of a test, which an example doesn't have.
type exampleTest struct{ testing.TB }

func (exampleTest) Helper()                   {}
func (exampleTest) Context() context.Context  { return context.Background() }
func (exampleTest) Error(args ...any)         { fmt.Println(args...) }
func (exampleTest) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (exampleTest) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (exampleTest) Cleanup(func())            {}
func (exampleTest) TempDir() string {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		panic(err)
	}
	return dir
}

// All asks several questions at once, in one place, and returns when all are answered.
func ExampleAll() {
	type Trip struct {
		Name, Class string
		Extras      []string
		Bags        int
		Weight      float64
		Leave       time.Time
		Alarm       time.Time
		Insured     bool
	}
	run(func(yield generators.Yield) (trip Trip, err error) {
		err = ask.All(yield,
			ask.ForText("name", "Who is going?", ask.Length(1, 40)).Into(&trip.Name),
			ask.ForSelect("class", "Which class?", ask.Choices("first", "second"), ask.Default("second")).Into(&trip.Class),
			ask.ForMultiSelect("extras", "What else?", ask.Choices("meal", "seat", "power"), ask.Items(0, 2)).Into(&trip.Extras),
			ask.ForInteger("bags", "How many bags?", ask.Range(0, 3)).Into(&trip.Bags),
			ask.ForNumber("weight", "How many kilograms?", ask.Step(0.5)).Into(&trip.Weight),
			ask.ForDate("leave", "When?", ask.Between(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})).Into(&trip.Leave),
			ask.ForDateTime("alarm", "When shall we wake you?").Into(&trip.Alarm),
			ask.ForConfirm("insured", "Insured?", ask.Verbs("Yes", "No")).Into(&trip.Insured),
		)
		return trip, err
	}, beamtest.Script{
		"name":    beamtest.Accept("Ada"),
		"class":   beamtest.Accept("first"),
		"extras":  beamtest.Accept([]string{"meal"}),
		"bags":    beamtest.Accept(1),
		"weight":  beamtest.Accept(12.5),
		"leave":   beamtest.Accept(time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)),
		"alarm":   beamtest.Accept(time.Date(2026, 12, 24, 6, 0, 0, 0, time.UTC)),
		"insured": beamtest.Accept(true),
	})
	// Output:
	// {"Name":"Ada","Class":"first","Extras":["meal"],"Bags":1,"Weight":12.5,"Leave":"2026-12-24T00:00:00Z","Alarm":"2026-12-24T06:00:00Z","Insured":true}
}

// A form has a field for each field of a struct, whose tags are its rules.
func ExampleForm() {
	type Member struct {
		Email string `json:"email" title:"Email" format:"email"`
		Team  string `json:"team"`
		Seats int    `json:"seats" minimum:"1" maximum:"9"`
	}
	if err := ask.Fits[Member](); err != nil { // for Options.Forms
		fmt.Println(err)
	}
	run(func(yield generators.Yield) (Member, error) {
		teams := []ask.Choice{{Value: "ops", Title: "Operations"}, {Value: "dev", Title: "Development"}} // known only now
		return ask.Form[Member](yield, "member", "Who joins?", ask.Choose("team", teams...), ask.Preset("seats", 2))
	}, beamtest.Script{"member": beamtest.Accept(Member{Email: "ada@example.org", Team: "ops", Seats: 2})})
	// Output:
	// {"email":"ada@example.org","team":"ops","seats":2}
}

// A form that is one of several questions.
func ExampleForForm() {
	type Name struct {
		First string `json:"first"`
		Last  string `json:"last"`
	}
	run(func(yield generators.Yield) (string, error) {
		var name Name
		var secret string
		err := ask.All(yield,
			ask.ForForm[Name]("name", "Who are you?").Into(&name),
			ask.ForSecret("pin", "Your PIN?", ask.Length(4, 4)).Into(&secret),
		)
		return fmt.Sprintf("%s %s, %d digits", name.First, name.Last, len(secret)), err
	}, beamtest.Script{"name": beamtest.Accept(Name{"Ada", "Lovelace"}), "pin": beamtest.Accept("1815")})
	// Output:
	// "Ada Lovelace, 4 digits"
}

// A form that is known only at run time is made of fields, or of a JSON Schema.
func ExampleForFields() {
	schema := &jsonschema.Schema{
		Type:       "object",
		Properties: map[string]*jsonschema.Schema{"city": {Type: "string", MinLength: new(2)}, "nights": {Type: "integer", Minimum: new(1.0)}},
		Required:   []string{"city"},
	}
	fields, err := ask.FromSchema(schema)
	if err != nil {
		fmt.Println(err)
	}
	fields = append(fields,
		ask.Field{Name: "room", Title: "Room", Type: "string", Required: true, Choices: ask.Choices("single", "double")},
		ask.Field{Name: "from", Type: "string", Format: "date", Earliest: "2026-01-01", Latest: "2026-12-31"},
		ask.Field{Name: "wish", Type: "string", Format: ask.FormatLong, MaxLength: 500},
		ask.Field{Name: "wake", Type: "string", Format: ask.FormatTime, Pattern: ask.TimePattern, PatternHint: "must be a time, such as 07:30"},
		ask.Field{Name: "tip", Type: "number", Minimum: new(0.0), Maximum: new(100.0), Step: new(0.5)},
		ask.Field{Name: "guest", Type: "string", MinLength: 2},
	)
	if err := fields.Validate(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(fields.Field("room").Label())
	run(ask.ForFields("stay", "Where and how long?", fields).Ask, beamtest.Script{
		"stay": beamtest.Accept(json.RawMessage(`{"city":"Bern","nights":2,"room":"single"}`)),
	})
	run(ask.ForFields("stay", "Where and how long?", fields).Ask, beamtest.Script{
		"stay": beamtest.Accept(json.RawMessage(`{"city":"B","room":"none"}`)),
	})
	_, err = fields.Check(json.RawMessage(`{"city":"Bern","room":"single","tip":0.3}`)) // what an answer must meet
	fmt.Println(err)
	// Output:
	// Room
	// {"city":"Bern","nights":2,"room":"single"}
	// error: /city must be at least 2 characters long; it has 1; /room must be one of single, double
	// /tip must be a multiple of 0.5
}

// Options refine a question. The ways in which it can go unanswered are errors.
func ExampleText() {
	name := func(yield generators.Yield) (string, error) {
		return ask.Text(yield, "code", "Which airport?", ask.Title("Airport"), ask.Description("Its three letters."),
			ask.Pattern("^[A-Z]{3}$", "must be three capital letters"), ask.Default("ZRH"), ask.Timeout(time.Hour))
	}
	run(name, beamtest.Script{"code": beamtest.Accept("BRN")})
	for _, script := range []beamtest.Script{
		{"code": beamtest.Decline()},
		{"code": beamtest.Cancel()},
		{"code": beamtest.Fail(ask.ErrTimeout)},
		{"code": beamtest.Fail(ask.ErrUnsupported)},
	} {
		run(func(yield generators.Yield) (string, error) {
			_, err := name(yield)
			switch {
			case errors.Is(err, ask.ErrDeclined):
				return "said no", nil
			case errors.Is(err, ask.ErrCancelled):
				return "dismissed it", nil
			case errors.Is(err, ask.ErrTimeout):
				return "took too long", nil
			case errors.Is(err, ask.ErrInvalid):
				return "typed too much that is not an airport", nil
			case errors.Is(err, ask.ErrUnsupported):
				return "is away", nil
			}
			return "", err
		}, script)
	}
	// Output:
	// "BRN"
	// "said no"
	// "dismissed it"
	// "took too long"
	// "is away"
}

// Rules that are common have an option of their own.
func ExampleOption() {
	run(func(yield generators.Yield) ([]string, error) {
		mail, err := ask.Text(yield, "mail", "Your email?", ask.Email())
		if err != nil {
			return nil, err
		}
		site, err := ask.Text(yield, "site", "Your site?", ask.Address(), ask.Optional())
		if err != nil {
			return nil, err
		}
		story, err := ask.Text(yield, "story", "Your story?", ask.Long())
		return []string{mail, site, story}, err
	}, beamtest.Script{
		"mail":  beamtest.Accept("ada@example.org"),
		"site":  beamtest.Accept(json.RawMessage(`{}`)), // left blank
		"story": beamtest.Accept("Once upon a time\nthere was an engine."),
	})
	// Output:
	// ["ada@example.org","","Once upon a time\nthere was an engine."]
}

// The photon reads the files as often as it likes.
func ExampleFiles() {
	run(func(yield generators.Yield) (total int64, err error) {
		files, err := ask.Files(yield, "pictures", "Which pictures?", ask.Accepting("image/*"), ask.Count(1, 3), ask.MaxSize(1<<20))
		for _, f := range files {
			total += f.Size
		}
		return total, err
	}, beamtest.Script{"pictures": beamtest.Accept([]beamtest.File{
		{Name: "a.png", MediaType: "image/png", Content: []byte("\x89PNG")},
		{Name: "b.png", MediaType: "image/png", Content: []byte("\x89PNG\r\n")},
	})})
	// Output:
	// 10
}

// A file that is one of several questions.
func ExampleForFiles() {
	run(func(yield generators.Yield) (string, error) {
		var files []ask.Handle
		var note string
		err := ask.All(yield, ask.ForFiles("file", "Which file?").Into(&files), ask.ForText("note", "What is it?").Into(&note))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s, %d byte", note, files[0].FileRef.Name, files[0].FileRef.Size), nil
	}, beamtest.Script{"file": beamtest.Accept(beamtest.File{Name: "a.txt", Content: []byte("a")}), "note": beamtest.Accept("A letter")})
	// Output:
	// "A letter: a.txt, 1 byte"
}

// URL asks for consent to open an address, or, with UntilDone, until the person is done.
func ExampleURL() {
	run(func(yield generators.Yield) (bool, error) {
		if err := ask.URL(yield, "pay", "Please pay at the bank", "https://bank.example/pay", ask.UntilDone()); err != nil {
			return false, err
		}
		var agreed bool // or as one of several questions
		err := ask.All(yield, ask.ForURL("terms", "Please read the terms", "https://bank.example/terms").Into(&agreed))
		return agreed, err
	}, beamtest.Script{"pay": beamtest.Accept(nil), "terms": beamtest.Accept(nil)})
	// Output:
	// true
}

// Roots asks for the folders that the photon may work in.
func ExampleRoots() {
	run(func(yield generators.Yield) (string, error) {
		roots, err := ask.Roots(yield, "folders")
		if err != nil {
			return "", err
		}
		return roots[0].Name + " at " + roots[0].URI, nil
	}, beamtest.Script{"folders": beamtest.Accept([]ask.Root{{URI: "file:///home/ada/notes", Name: "Notes"}})})
	// Output:
	// "Notes at file:///home/ada/notes"
}

// A model may use the photon's tools: the photon runs them and continues the conversation.
func ExampleSample() {
	low := 0.2
	request := ask.SampleRequest{
		SystemPrompt: "Describe pictures in one sentence.",
		Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("What is this?"), ask.ImageBlock([]byte("\x89PNG"), "image/png")),
			ask.FromAssistant(ask.TextBlock("A cat.")),
			ask.FromUser(ask.AudioBlock([]byte("RIFF"), "audio/wav")),
		},
		ModelPreferences: &ask.ModelPreferences{
			Hints: []ask.ModelHint{{Name: "small"}}, CostPriority: new(1.0), SpeedPriority: new(0.5), IntelligencePriority: &low,
		},
		Temperature:    &low,
		MaxTokens:      100,
		StopSequences:  []string{"END"},
		IncludeContext: "none",
		Metadata:       json.RawMessage(`{"user":"ada"}`),
		Tools:          []json.RawMessage{json.RawMessage(`{"name":"zoom","inputSchema":{"type":"object"}}`)},
		ToolChoice:     &ask.ToolChoice{Mode: "auto"},
	}
	zoom := func(json.RawMessage) string { return "It has whiskers." } // the photon's tool
	run(func(yield generators.Yield) (string, error) {
		for {
			result, err := ask.Sample(yield, "describe", request)
			if err != nil || result.StopReason != "toolUse" {
				return result.Model + ": " + result.Text(), err
			}
			blocks, err := result.Blocks()
			if err != nil {
				return "", err
			}
			request.Messages = append(request.Messages, result.Message())
			for _, b := range blocks {
				if b.Type == ask.BlockToolUse && b.Name == "zoom" {
					request.Messages = append(request.Messages, ask.FromUser(ask.SampleBlock{
						Type: ask.BlockToolResult, ToolUseID: b.ID, Content: json.RawMessage(`[{"type":"text","text":"` + zoom(b.Input) + `"}]`),
					}))
				}
			}
		}
	}, beamtest.Script{
		"describe": beamtest.Accept(json.RawMessage(
			`{"role":"assistant","model":"eye-1","stopReason":"toolUse","content":[{"type":"tool_use","id":"1","name":"zoom","input":{}}]}`)),
		"describe#2": beamtest.Accept(json.RawMessage(
			`{"role":"assistant","model":"eye-1","stopReason":"endTurn","content":{"type":"text","text":"A cat with whiskers."}}`)),
	})
	// Output:
	// "eye-1: A cat with whiskers."
}

// A conversation is a list of messages, and a message a list of blocks.
func ExampleSampleMessage() {
	conversation := []ask.SampleMessage{
		ask.FromUser(ask.TextBlock("What is this?"), ask.ImageBlock([]byte("\x89PNG"), "image/png"), ask.AudioBlock([]byte("RIFF"), "audio/wav")),
		ask.FromAssistant(ask.TextBlock("A cat that purrs.")),
	}
	for _, m := range conversation {
		fmt.Println(m.Role == ask.RoleUser, m.Role == ask.RoleAssistant, m.Text())
		blocks, err := m.Blocks()
		if err != nil {
			fmt.Println(err)
		}
		for _, b := range blocks {
			switch b.Type {
			case ask.BlockText:
				fmt.Println("text:", b.Text)
			case ask.BlockImage, ask.BlockAudio:
				fmt.Println(b.MIMEType, len(b.Data), "bytes")
			case ask.BlockToolResult:
				fmt.Println("failed:", b.IsError)
			}
		}
	}
	fmt.Println(string(conversation[1].Content))
	// Output:
	// true false What is this?
	// text: What is this?
	// image/png 4 bytes
	// audio/wav 4 bytes
	// false true A cat that purrs.
	// text: A cat that purrs.
	// {"text":"A cat that purrs.","type":"text"}
}

// A test can look at what was asked: the kinds of the questions, and their rules.
func ExampleQuestion() {
	remove := photon(func(yield generators.Yield) (bool, error) {
		files, err := ask.Files(yield, "files", "Which lists?", ask.Accepting(".csv"), ask.Count(1, 2), ask.MaxSize(1000))
		if err != nil {
			return false, err
		}
		if err := ask.URL(yield, "rules", "Read the rules", "https://shop.example/rules", ask.UntilDone()); err != nil {
			return false, err
		}
		return ask.Confirm(yield, "sure", fmt.Sprintf("Delete %d customers?", len(files)), ask.Destructive(), ask.Verbs("Delete", "Keep"), ask.Timeout(time.Hour),
			ask.Showing(generators.TableOf("Lists", generators.Table{Columns: []string{"file"}, Rows: [][]any{{files[0].Name}}})))
	})
	got := beamtest.Run(exampleTest{}, remove, nil, beamtest.Script{
		"files": beamtest.Accept([]beamtest.File{{Name: "a.csv", Content: []byte("a")}}),
		"rules": beamtest.Accept(nil),
		"sure":  beamtest.Accept(true),
	})

	files, rules, sure := got.Questions["files"], got.Questions["rules"], got.Questions["sure"]
	fmt.Println(files.Kind == ask.KindFile, files.File.Types, files.File.Min, files.File.Max, files.File.MaxSize)
	fmt.Println(rules.Kind == ask.KindURL, rules.URL, rules.UntilDone)
	fmt.Println(sure.Kind == ask.KindConfirm, sure.Message, sure.Yes, sure.No, sure.Destructive, time.Duration(sure.Timeout))
	// Output:
	// true [.csv] 1 2 1000
	// true https://shop.example/rules true
	// true Delete 1 customers? Delete Keep true 1h0m0s
}

// The kind of a question is also its name in metrics and logs.
func ExampleKind() {
	for _, kind := range []ask.Kind{
		ask.KindText, ask.KindSecret, ask.KindConfirm, ask.KindSelect, ask.KindMultiSelect, ask.KindNumber, ask.KindInteger,
		ask.KindDate, ask.KindDateTime, ask.KindFile, ask.KindForm, ask.KindURL, ask.KindSample, ask.KindRoots,
	} {
		fmt.Print(kind, " ")
	}
	fmt.Println(len(ask.Kinds()))
	// Output:
	// text secret confirm select multiselect number integer date datetime file form url sample roots 14
}

// A question shows what the person decides by.
func ExampleShowing() {
	migrate := generators.New("migrate", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "apply", "Apply 1 migration?", ask.Destructive(), ask.Verbs("Apply", "Keep"),
			ask.Showing(
				generators.Code("001.sql", "sql", "ALTER TABLE users ADD mail TEXT;"),
				generators.Diff("schema.sql", "name TEXT\n", "name TEXT\nmail TEXT\n")))
	}, nil)
	got := beamtest.Run(exampleTest{}, migrate, nil, beamtest.Script{"apply": beamtest.Accept(true)})
	for _, shown := range got.Questions["apply"].Evidence {
		fmt.Printf("%s (%s):\n%s\n", shown.Title, shown.MediaType, shown.Body)
	}
	// Output:
	// 001.sql (text/x-sql):
	// ALTER TABLE users ADD mail TEXT;
	// schema.sql (text/x-diff):
	// @@ -1 +1,2 @@
	//  name TEXT
	// +mail TEXT
}

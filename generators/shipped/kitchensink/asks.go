package kitchensink

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Choice is the question to ask, and nested input for testing forms.
type Choice struct {
	Ask  string `json:"ask,omitempty" title:"Question" description:"The kind of question to ask" enum:"text,secret,confirm,select,multiselect,number,integer,date,datetime,file,form,url,evidence,all" default:"form"`
	Echo *Echo  `json:"echo,omitempty" title:"Echo" description:"Nested input, which the result repeats"`
}

// Signup is a form with every kind of field. Pointers distinguish a blank field from a
// zero answer.
type Signup struct {
	Name       string   `json:"name" title:"Name" description:"As you want to be called" minLength:"1" maxLength:"80"`
	Email      string   `json:"email" title:"Email" format:"email" maxLength:"254"`
	Age        *int     `json:"age,omitempty" title:"Age" minimum:"18" maximum:"120"`
	Role       string   `json:"role,omitempty" title:"Role" enum:"dev,ops,design" enumTitles:"Developer,Operator,Designer"`
	Topics     []string `json:"topics,omitempty" title:"Topics" enum:"auth,logging,metrics,tracing" minItems:"1" maxItems:"2"`
	Newsletter *bool    `json:"newsletter,omitempty" title:"Newsletter" default:"true"`
	Website    string   `json:"website,omitempty" title:"Website" format:"uri"`
}

// Both is the answer to two questions that are open at once.
type Both struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
}

// FileInfo describes the file of an answer.
type FileInfo struct {
	Name      string `json:"name"`
	Size      int64  `json:"size"`
	MediaType string `json:"mediaType"`
}

// SecretInfo describes a secret by its length in characters.
type SecretInfo struct {
	Length int `json:"length"`
}

// askQuestion asks the question of the given kind, which is also its key, and returns the
// answer for the result.
func askQuestion(yield generators.Yield, kind string) (any, error) {
	switch kind {
	case "text":
		return asAny(ask.Text(yield, kind, "What is the project called?", ask.Title("Project name"), ask.Length(2, 40)))
	case "secret":
		return askSecret(yield, kind)
	case "confirm":
		return asAny(ask.Confirm(yield, kind, "Continue?"))
	case "select":
		return asAny(ask.Select(yield, kind, "Which environment?", environments(), ask.Title("Environment")))
	case "multiselect":
		return asAny(ask.MultiSelect(yield, kind, "Which features?",
			ask.Choices("auth", "logging", "metrics", "tracing"), ask.Title("Features"), ask.Items(1, 2)))
	case "number":
		return asAny(ask.Number(yield, kind, "How many hours?", ask.Title("Hours"), ask.Range(0, 10), ask.Step(0.5)))
	case "integer":
		return asAny(ask.Integer(yield, kind, "How many people?", ask.Title("People"), ask.Range(1, 20)))
	case "date":
		day, err := ask.Date(yield, kind, "Which day of 2026?", ask.Title("Day"), ask.Between(
			time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)))
		return day.Format(time.DateOnly), err
	case "datetime":
		moment, err := ask.DateTime(yield, kind, "When does it begin?", ask.Title("Begin"))
		return moment.Format(time.RFC3339Nano), err
	case "file":
		return askFile(yield, kind)
	case "form":
		return asAny(ask.Form[Signup](yield, kind, "Please sign up."))
	case "url":
		return true, ask.URL(yield, kind, "Please give your consent on this page.", "https://example.com/consent?run=1")
	case "evidence":
		return asAny(ask.Confirm(yield, kind, "Replace the settings?", ask.Destructive(), ask.Verbs("Replace", "Keep"), ask.Showing(evidence()...)))
	case "all":
		return askBoth(yield)
	}
	return nil, fmt.Errorf("there is no question of the kind %q", kind) // the input schema rejects it
}

func asAny[T any](v T, err error) (any, error) { return v, err }

func askSecret(yield generators.Yield, key string) (any, error) {
	word, err := ask.Secret(yield, key, "What is the passphrase? Only its length is returned.", ask.Title("Passphrase"))
	return SecretInfo{Length: utf8.RuneCountInString(word)}, err
}

func askFile(yield generators.Yield, key string) (any, error) {
	f, err := ask.File(yield, key, "Which file? Any type, up to 1 MB. Its content is not read.", ask.MaxSize(1<<20))
	return FileInfo{Name: f.Name, Size: f.Size, MediaType: f.MediaType}, err
}

func askBoth(yield generators.Yield) (any, error) {
	var b Both
	err := ask.All(yield,
		ask.ForText("name", "What is the project called?", ask.Title("Project name"), ask.Length(2, 40)).Into(&b.Name),
		ask.ForSelect("environment", "Which environment?", environments(), ask.Title("Environment")).Into(&b.Environment))
	return b, err
}

// evidence returns what a question shows: what changes, and what depends on it.
func evidence() []generators.Event {
	return []generators.Event{
		generators.Diff("settings.toml", settings, strings.Replace(settings, "seats = 4", "seats = 400", 1)),
		generators.TableOf("Who uses them", generators.Table{
			Columns: []string{"Service", "Users"}, Rows: [][]any{{"booking", 1200}, {"billing", 45}},
		}),
	}
}

const settings = `[table]
name  = "Window"
seats = 4
`

func environments() []ask.Choice {
	return []ask.Choice{
		{Value: "dev", Title: "Development"},
		{Value: "staging", Title: "Staging"},
		{Value: "prod", Title: "Production"},
	}
}

package ask_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

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

// A form that is known only at run time is made of a JSON Schema.
func ExampleForSchema() {
	stay := &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"city": {Type: "string", MinLength: new(2)}, "nights": {Type: "integer", Minimum: new(1.0)}, "room": {Type: "string", Enum: []any{"single", "double"}},
		},
		Required: []string{"city", "room"},
	}
	run(ask.ForSchema("stay", "Where and how long?", stay).Ask, beamtest.Script{
		"stay": beamtest.Accept(json.RawMessage(`{"city":"Bern","nights":2,"room":"single"}`)),
	})
	run(ask.ForSchema("stay", "Where and how long?", stay).Ask, beamtest.Script{
		"stay": beamtest.Accept(json.RawMessage(`{"city":"B","room":"none"}`)),
	})
	// Output:
	// {"city":"Bern","nights":2,"room":"single"}
	// error: /city must be at least 2 characters long; it has 1; /room must be one of single, double
}

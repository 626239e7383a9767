package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

type personForm struct {
	Name string `json:"name" title:"Name" minLength:"1" maxLength:"40"`
	Mail string `json:"mail" format:"email"`
	Age  int    `json:"age,omitempty" minimum:"0" maximum:"150"`
	Plan string `json:"plan" enum:"free,pro" enumTitles:"Free of charge,Professional"`
	News bool   `json:"news,omitempty" default:"true"`
}

type account struct {
	Account string `json:"account"`
}

// colors have titles, for questions that show them.
var colors = []ask.Choice{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}, {Value: "b", Title: "Blue"}}

func newSamplePrompt(key string) *ask.Prompt[ask.SampleResult] {
	return ask.ForSample(key, ask.SampleRequest{
		SystemPrompt: "Be brief.", Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Capital of France?"))}, MaxTokens: 50,
	})
}

// askingPhotons returns the photons that ask one or several questions.
func askingPhotons() []*generators.Photon {
	return slices.Concat(promptPhotons(), singlePhotons(), severalPhotons())
}

// promptPhotons returns photons that ask one question and return its answer.
func promptPhotons() []*generators.Photon {
	day := func(s string) time.Time { d, _ := time.Parse(time.DateOnly, s); return d }
	return []*generators.Photon{
		newAskingPhoton("text", ask.ForText("text", "What is your name?", ask.Length(1, 40))),
		newAskingPhoton("confirm", ask.ForConfirm("confirm", "Shall it be done?", ask.Showing(generators.Code("001.sql", "sql", "DROP TABLE a;")))),
		newAskingPhoton("select", ask.ForSelect("select", "Which fruit?", ask.Choices("apple", "pear"))),
		newAskingPhoton("select_titled", ask.ForSelect("select_titled", "Which colour?", colors)),
		newAskingPhoton("multiselect", ask.ForMultiSelect("multiselect", "Which fruits?", ask.Choices("apple", "pear", "plum"), ask.Items(1, 2))),
		newAskingPhoton("multiselect_titled", ask.ForMultiSelect("multiselect_titled", "Which colours?", colors)),
		newAskingPhoton("number", ask.ForNumber("number", "How long?", ask.Range(0, 10))),
		newAskingPhoton("integer", ask.ForInteger("integer", "How many?", ask.Range(1, 9))),
		newAskingPhoton("date", ask.ForDate("date", "Which day?", ask.Between(day("2026-01-01"), day("2026-12-31")))),
		newAskingPhoton("datetime", ask.ForDateTime("datetime", "When?")),
		newAskingPhoton("form", ask.ForForm[personForm]("form", "Who are you?")),
		newAskingPhoton("url", ask.ForURL("url", "Please sign in there.", "https://example.com/sign-in")),
		newAskingPhoton("url_done", ask.ForURL("url_done", "Please pay there.", "https://example.com/pay", ask.UntilDone())),
		newAskingPhoton("code", ask.ForText("code", "Which airport?", ask.Pattern(`^[A-Z]{3}$`, "must be three capital letters"))),
		newAskingPhoton("hurried", ask.ForText("hurried", "Quick, what?", ask.Timeout(50*time.Millisecond))),
	}
}

// singlePhotons returns photons that ask one question and do something with its answer.
func singlePhotons() []*generators.Photon {
	return []*generators.Photon{
		newPhoton("secret", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			s, err := ask.Secret(yield, "secret", "What is the password?")
			return outcomeOf(fmt.Sprintf("%d characters", len(s)), err)
		}),
		newPhoton("file", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			h, err := ask.File(yield, "file", "Which file?", ask.Accepting("text/plain", ".txt"))
			if err != nil {
				return outcomeOf(nil, err)
			}
			r, err := h.Open()
			if err != nil {
				return outcome{}, err
			}
			defer r.Close()
			body, err := io.ReadAll(r)
			return outcomeOf(h.Name+": "+string(body), err)
		}),
		newPhoton("sample", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			r, err := newSamplePrompt("sample").Ask(yield)
			return outcomeOf(r.Text()+" ("+r.Model+")", err)
		}),
		newPhoton("roots", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			roots, err := ask.Roots(yield, "roots")
			uris := []string{}
			for _, r := range roots {
				uris = append(uris, r.URI)
			}
			return outcomeOf(uris, err)
		}),
	}
}

// severalPhotons returns photons that ask several questions, or do something beside.
func severalPhotons() []*generators.Photon {
	return []*generators.Photon{
		newPhoton("all", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			var name string
			var ok bool
			var said ask.SampleResult
			err := ask.All(yield, ask.ForText("text", "What is your name?").Into(&name),
				ask.ForConfirm("confirm", "Shall it be done?").Into(&ok), newSamplePrompt("sample").Into(&said))
			return outcomeOf(fmt.Sprint(name, " ", ok, " ", said.Text()), err)
		}),
		newPhoton("rounds", func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
			name, err := ask.Text(yield, "text", "What is your name?")
			if err != nil {
				return outcomeOf(nil, err)
			}
			yield(generators.Status("thank you, " + name))
			n, err := ask.Integer(yield, "integer", "How many, "+name+"?", ask.Range(1, 9))
			return outcomeOf(fmt.Sprint(name, " ", n), err)
		}),
		// account fails with Beam's own error if the user doesn't answer.
		newPhoton("account", func(_ context.Context, _ none, yield generators.Yield) (account, error) {
			name, err := ask.Text(yield, "account", "Which account should Ada get?", ask.Length(1, 40))
			return account{name}, err
		}),
		// echo asks for its own argument, so that a test notices an answer that went to
		// another call.
		newPhoton("echo", func(_ context.Context, in nameArgs, yield generators.Yield) (outcome, error) {
			for i := range 5 {
				yield(generators.Progress(float64(i), 5, in.Name))
			}
			got, err := ask.Text(yield, "text", "Say "+in.Name)
			yield(generators.Progress(5, 5, in.Name))
			return outcomeOf(in.Name+"="+got, err)
		}),
		// spend has a side effect between its questions.
		newPhoton("spend", func(_ context.Context, in nameArgs, yield generators.Yield) (outcome, error) {
			ok, err := ask.Confirm(yield, "confirm", "Spend it?")
			if err != nil || !ok {
				return outcomeOf(ok, err)
			}
			marks.set(in.Name)
			yield(generators.Status("spent"))
			why, err := ask.Text(yield, "text", "What for?")
			return outcomeOf(why, err)
		}),
		newPhoton("slow_ask", func(_ context.Context, in nameArgs, yield generators.Yield) (outcome, error) {
			defer markDeferred(in.Name)
			v, err := ask.Text(yield, "text", "Take your time.")
			return outcomeOf(v, err)
		}),
		generators.New("durable_ask", func(_ context.Context, in nameArgs, yield generators.Yield) (outcome, error) {
			defer markDeferred(in.Name)
			v, err := ask.Text(yield, "text", "Take your time.")
			return outcomeOf(v, err)
		}, &generators.Options{Durable: true}),
	}
}

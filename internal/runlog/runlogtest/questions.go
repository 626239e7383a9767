package runlogtest

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
)

// Questions returns a question of each kind, in the order of [ask.Kinds].
func Questions() []*ask.Question {
	one := func(f ask.Field) ask.Fields {
		f.Name, f.Required = "answer", true
		return ask.Fields{f}
	}
	return []*ask.Question{
		{Kind: ask.KindText, Message: "What is your name?", Fields: one(ask.Field{Type: "string", MinLength: 2})},
		{Kind: ask.KindSecret, Message: "What is the key?", Fields: one(ask.Field{Type: "string", Format: ask.FormatSecret})},
		{Kind: ask.KindConfirm, Message: "Deploy?", Yes: "Deploy", No: "Not now", Destructive: true, Fields: one(ask.Field{Type: "boolean"})},
		{Kind: ask.KindSelect, Message: "Where to?", Fields: one(ask.Field{Type: "string", Choices: ask.Choices("staging", "prod")})},
		{Kind: ask.KindMultiSelect, Message: "What?", Fields: one(ask.Field{Type: "array", MaxItems: 2, Choices: ask.Choices("auth", "logs", "traces")})},
		{Kind: ask.KindNumber, Message: "How much?", Fields: one(ask.Field{Type: "number", Maximum: new(10.0), Default: json.RawMessage("2.5")})},
		{Kind: ask.KindInteger, Message: "How many?", Fields: one(ask.Field{Type: "integer", Minimum: new(1.0)})},
		{Kind: ask.KindDate, Message: "Which day?", Fields: one(ask.Field{Type: "string", Format: "date", Earliest: "2026-01-01"})},
		{Kind: ask.KindDateTime, Message: "When?", Fields: one(ask.Field{Type: "string", Format: "date-time"})},
		{Kind: ask.KindFile, Message: "Which file?", File: &ask.FileRules{Types: []string{"text/csv"}, MaxSize: 1e6, Min: 1, Max: 1}},
		{Kind: ask.KindForm, Message: "Who are you?", Fields: ask.Fields{
			{Name: "name", Title: "Name", Type: "string", Required: true},
			{Name: "email", Title: "Email", Type: "string", Format: "email", Description: "Where the confirmation goes"},
		}},
		{Kind: ask.KindURL, Message: "Sign in there.", URL: "https://id.example.com/authorize"},
		{Kind: ask.KindSample, Message: "Request to a model: Sum up", Fields: one(ask.Field{Type: "string", Format: ask.FormatLong}),
			Sample: &ask.SampleRequest{MaxTokens: 10, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Sum up"))}}},
		{Kind: ask.KindRoots, Message: "Which folders?", Fields: one(ask.Field{Type: "string", Format: ask.FormatLong})},
	}
}

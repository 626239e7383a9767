package runlogtest

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

// Questions returns a question of each kind, in the order of [askdata.Kinds].
func Questions() []*askdata.Question {
	one := func(f askdata.Field) askdata.Fields {
		f.Name, f.Required = "answer", true
		return askdata.Fields{f}
	}
	return []*askdata.Question{
		{Kind: askdata.KindText, Message: "What is your name?", Fields: one(askdata.Field{Type: "string", MinLength: 2})},
		{Kind: askdata.KindSecret, Message: "What is the key?", Fields: one(askdata.Field{Type: "string", Format: askdata.FormatSecret})},
		{Kind: askdata.KindConfirm, Message: "Deploy?", Yes: "Deploy", No: "Not now", Destructive: true, Fields: one(askdata.Field{Type: "boolean"})},
		{Kind: askdata.KindSelect, Message: "Where to?", Fields: one(askdata.Field{Type: "string", Choices: askdata.Choices("staging", "prod")})},
		{Kind: askdata.KindMultiSelect, Message: "What?", Fields: one(askdata.Field{Type: "array", MaxItems: 2, Choices: askdata.Choices("auth", "logs", "traces")})},
		{Kind: askdata.KindNumber, Message: "How much?", Fields: one(askdata.Field{Type: "number", Maximum: new(10.0), Default: json.RawMessage("2.5")})},
		{Kind: askdata.KindInteger, Message: "How many?", Fields: one(askdata.Field{Type: "integer", Minimum: new(1.0)})},
		{Kind: askdata.KindDate, Message: "Which day?", Fields: one(askdata.Field{Type: "string", Format: "date", Earliest: "2026-01-01"})},
		{Kind: askdata.KindDateTime, Message: "When?", Fields: one(askdata.Field{Type: "string", Format: "date-time"})},
		{Kind: askdata.KindFile, Message: "Which file?", File: &askdata.FileRules{Types: []string{"text/csv"}, MaxSize: 1e6, Min: 1, Max: 1}},
		{Kind: askdata.KindForm, Message: "Who are you?", Fields: askdata.Fields{
			{Name: "name", Title: "Name", Type: "string", Required: true},
			{Name: "email", Title: "Email", Type: "string", Format: "email", Description: "Where the confirmation goes"},
		}},
		{Kind: askdata.KindURL, Message: "Sign in there.", URL: "https://id.example.com/authorize"},
		{Kind: askdata.KindSample, Message: "Request to a model: Sum up", Fields: one(askdata.Field{Type: "string", Format: askdata.FormatLong}),
			Sample: asking.NewSample(&ask.SampleRequest{MaxTokens: 10, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Sum up"))}})},
		{Kind: askdata.KindRoots, Message: "Which folders?", Fields: one(askdata.Field{Type: "string", Format: askdata.FormatLong})},
	}
}

package ask_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

type noInput struct{}

// photon returns a photon that calls a function.
func photon[T any](fn func(yield generators.Yield) (T, error)) *generators.Photon {
	return generators.New("test", func(_ context.Context, _ noInput, yield generators.Yield) (T, error) { return fn(yield) }, nil)
}

// answerAll returns a provider with the same answer to every question.
func answerAll(a askdata.Answer, err error) Provider {
	return ProviderFunc(func(context.Context, string, *askdata.Question) (askdata.Answer, error) { return a, err })
}

// acceptAll returns a provider that accepts every question with content.
func acceptAll(content string) Provider {
	return answerAll(askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}, nil)
}

// runAsk runs a function that asks, and returns its value as JSON, and its error.
func runAsk[T any](t *testing.T, d Driver, fn func(yield generators.Yield) (T, error)) (value string, err error) {
	t.Helper()
	_, _ = d.Run(t.Context(), photon(func(yield generators.Yield) (int, error) {
		var v T
		v, err = fn(yield)
		raw, encodeErr := json.Marshal(v)
		if encodeErr != nil {
			t.Error(encodeErr)
		}
		value = string(raw)
		return 0, nil
	}), nil)
	return value, err
}

// questionOf returns the question of a prompt.
func questionOf[T any](t *testing.T, p *ask.Prompt[T]) *askdata.Question {
	t.Helper()
	var q *askdata.Question
	d := Driver{Provider: ProviderFunc(func(_ context.Context, _ string, asked *askdata.Question) (askdata.Answer, error) {
		q = asked
		return askdata.Answer{Action: askdata.Cancel}, nil
	})}
	if _, err := runAsk(t, d, p.Ask); q == nil {
		t.Fatalf("nothing was asked: %v", err)
	}
	return q
}

// fieldErrors returns the messages of an InvalidError, by path.
func fieldErrors(t *testing.T, err error) map[string]string {
	t.Helper()
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("the error is a %T (%v), not an InvalidError", err, err)
	}
	messages := make(map[string]string)
	for _, f := range invalid.Fields {
		if messages[f.Path] != "" {
			messages[f.Path] += "; "
		}
		messages[f.Path] += f.Message
	}
	return messages
}

// schema parses a schema.
func schema(t *testing.T, raw string) *generators.Schema {
	t.Helper()
	s, err := generators.ParseSchema(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file in testdata.
func golden(t *testing.T, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", name, b.Bytes())
	}
}

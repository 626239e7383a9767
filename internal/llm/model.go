package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Model is one configured model. Its exported fields are the members of its object
// in the file of models.
type Model struct {
	Name     string `json:"name"`            // what people see; unique
	Endpoint string `json:"endpoint"`        // the base URL of the API, such as http://127.0.0.1:11434/v1
	ID       string `json:"model,omitempty"` // the model's name at the endpoint; the same as Name if empty

	// KeyEnv names an environment variable with the key, and KeyFile a file that only
	// its owner may read.
	KeyEnv  string `json:"keyEnv,omitempty"`
	KeyFile string `json:"keyFile,omitempty"`
	// PlainHTTP allows the key to be sent without TLS to another machine.
	PlainHTTP bool `json:"plainHTTP,omitempty"`

	// Scores from 0 to 1; more is better, so a Cost of 1 is free.
	Cost         float64 `json:"cost,omitempty"`
	Speed        float64 `json:"speed,omitempty"`
	Intelligence float64 `json:"intelligence,omitempty"`
	// Hints are further names that a request's hints may mean, such as "sonnet".
	Hints []string `json:"hints,omitempty"`
	// Accepts are what the model takes besides text: image, audio, tools.
	Accepts []string `json:"accepts,omitempty"`

	MaxTokens   int      `json:"maxTokens,omitempty"`   // the longest reply; 0 means unlimited
	Timeout     Duration `json:"timeout,omitempty"`     // for a whole reply; 10 minutes
	IdleTimeout Duration `json:"idleTimeout,omitempty"` // without any data; 2 minutes
	Retries     *int     `json:"retries,omitempty"`     // after a refusal for now; 3

	// LimitField is the request's member with the longest reply: max_tokens or
	// max_completion_tokens. The latter is the default at api.openai.com.
	LimitField string `json:"limitField,omitempty"`
	// Omit are members of a request that the model refuses: temperature, stop,
	// stream_options.
	Omit []string `json:"omit,omitempty"`

	key       string
	host      string // of Endpoint
	transport http.RoundTripper

	mu        sync.Mutex
	notBefore time.Time // the endpoint has said to wait until then
}

// A Duration is a [time.Duration] that is a string in JSON, such as "90s".
type Duration time.Duration

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return fmt.Errorf("%q is not a time", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// What a model may accept besides text.
const (
	AcceptsImage = "image"
	AcceptsAudio = "audio"
	AcceptsTools = "tools"
)

// Accept reports whether the model takes what, which is one of the constants above.
func (m *Model) Accept(what string) bool { return slices.Contains(m.Accepts, what) }

// Host returns the host and port of the endpoint.
func (m *Model) Host() string { return m.host }

// HasKey reports whether requests carry a key.
func (m *Model) HasKey() bool { return m.key != "" }

// redact returns a text of the endpoint without the key, as one bounded line.
func (m *Model) redact(text string) string {
	if m.key != "" {
		text = strings.ReplaceAll(text, m.key, "••••")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if r := []rune(text); len(r) > maxErrorText {
		text = string(r[:maxErrorText]) + " …"
	}
	return text
}

// maxErrorText is how much of an endpoint's error message is shown, in characters.
const maxErrorText = 400

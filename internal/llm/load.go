package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/links"
)

// Models are the configured models, in the order of their file. They don't change.
type Models struct{ list []*Model }

// All returns the models in the order of their file.
func (m *Models) All() []*Model { return m.list }

// Lookup returns the model of that name; nil if there is none.
func (m *Models) Lookup(name string) *Model {
	for _, model := range m.list {
		if model.Name == name {
			return model
		}
	}
	return nil
}

// maxModels bounds how many models a file has.
const maxModels = 100

// Load reads the file of models: {"models": [{"name": …, "endpoint": …}, …]}. It reads
// the keys, too. The error says which model is wrong, and what would be right; it never
// has a key.
func Load(path string) (*Models, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the models: %w", err)
	}
	m, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the models in %s: %w", path, err)
	}
	return m, nil
}

// Parse is [Load] for the content of a file.
func Parse(raw []byte) (*Models, error) {
	var file struct {
		Models []*Model `json:"models"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, explainSyntax(err)
	}
	if n := len(file.Models); n == 0 || n > maxModels {
		return nil, fmt.Errorf(`there must be 1 to %d models, as in {"models": [{"name": "llama", "endpoint": "http://127.0.0.1:11434/v1", "model": "llama3.2"}]}`, maxModels)
	}
	names := make(map[string]bool, len(file.Models))
	transport := newTransport()
	for i, m := range file.Models {
		if m == nil || m.Name == "" {
			return nil, fmt.Errorf("model %d has no name", i+1)
		}
		if names[m.Name] {
			return nil, fmt.Errorf("two models have the name %q", m.Name)
		}
		names[m.Name], m.transport = true, transport
		if err := m.prepare(); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return &Models{file.Models}, nil
}

// explainSyntax names the members that hold keys.
func explainSyntax(err error) error {
	for _, name := range []string{`"key"`, `"apiKey"`, `"api_key"`} {
		if strings.Contains(err.Error(), "unknown field "+name) {
			return fmt.Errorf("a key doesn't belong in this file: name an environment variable in keyEnv, or an owner-only file in keyFile, instead of %s", name)
		}
	}
	return err
}

// validName matches names of up to maxName characters. A count in the expression would cost
// megabytes at every start.
var validName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._:/@+-]*$`)

const maxName = 60

// prepare checks the model, sets its defaults and reads its key.
func (m *Model) prepare() error {
	if !validName.MatchString(m.Name) || utf8.RuneCountInString(m.Name) > maxName {
		return errors.New("a name has up to 60 letters, digits, spaces and . _ : / @ + -, and begins with a letter or digit")
	}
	if err := m.prepareEndpoint(); err != nil {
		return err
	}
	for what, score := range map[string]float64{"cost": m.Cost, "speed": m.Speed, "intelligence": m.Intelligence} {
		if !(score >= 0 && score <= 1) {
			return fmt.Errorf("%s is a score from 0 to 1, and more is better; it is %v", what, score)
		}
	}
	if err := checkWords("accepts", m.Accepts, AcceptsImage, AcceptsAudio, AcceptsTools); err != nil {
		return err
	}
	if err := checkWords("omit", m.Omit, "temperature", "stop", "stream_options"); err != nil {
		return err
	}
	if m.MaxTokens < 0 || m.Retries != nil && (*m.Retries < 0 || *m.Retries > 10) {
		return errors.New("maxTokens must not be negative, and retries must be 0 to 10")
	}
	m.ID = cmp.Or(m.ID, m.Name)
	m.Timeout, m.IdleTimeout = cmp.Or(m.Timeout, Duration(10*time.Minute)), cmp.Or(m.IdleTimeout, Duration(2*time.Minute))
	if m.Retries == nil {
		m.Retries = new(3)
	}
	return m.readKey()
}

func (m *Model) prepareEndpoint() error {
	u, err := url.Parse(m.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("endpoint must be the base URL of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1, without user, query and fragment")
	}
	m.Endpoint, m.host = strings.TrimRight(u.String(), "/"), u.Host
	field := "max_tokens"
	if u.Hostname() == "api.openai.com" {
		field = "max_completion_tokens"
	}
	m.LimitField = cmp.Or(m.LimitField, field)
	if m.LimitField != "max_tokens" && m.LimitField != "max_completion_tokens" {
		return fmt.Errorf("limitField must be max_tokens or max_completion_tokens, not %q", m.LimitField)
	}
	if (m.KeyEnv != "" || m.KeyFile != "") && u.Scheme == "http" && !links.IsLoopback(u.Hostname()) && !m.PlainHTTP {
		return fmt.Errorf(`the key would travel to %s without encryption: use https, or set "plainHTTP": true`, u.Host)
	}
	return nil
}

func checkWords(name string, words []string, allowed ...string) error {
	for _, w := range words {
		if !slices.Contains(allowed, w) {
			return fmt.Errorf("%s has %q; it may have %s", name, w, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// readKey reads the key from where the model says it is.
func (m *Model) readKey() error {
	switch {
	case m.KeyEnv != "" && m.KeyFile != "":
		return errors.New("keyEnv and keyFile exclude each other")
	case m.KeyEnv != "":
		if m.key = strings.TrimSpace(os.Getenv(m.KeyEnv)); m.key == "" {
			return fmt.Errorf("the environment variable %s, which keyEnv names, is empty or not set", m.KeyEnv)
		}
	case m.KeyFile != "":
		if err := m.readKeyFile(); err != nil {
			return err
		}
	}
	if strings.ContainsFunc(m.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the key has characters that a header can't have")
	}
	return nil
}

// maxKey is the size of the largest key file, in bytes.
const maxKey = 16 << 10

func (m *Model) readKeyFile() error {
	info, err := os.Stat(m.KeyFile)
	switch {
	case err != nil:
		return fmt.Errorf("reading keyFile: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxKey:
		return fmt.Errorf("keyFile %s is not a small file", m.KeyFile)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may read keyFile %s: run chmod 600 on it", m.KeyFile)
	}
	raw, err := os.ReadFile(m.KeyFile)
	if err != nil {
		return fmt.Errorf("reading keyFile: %w", err)
	}
	if m.key = strings.TrimSpace(string(raw)); m.key == "" {
		return fmt.Errorf("keyFile %s is empty", m.KeyFile)
	}
	return nil
}

// newTransport returns the transport of all models.
func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}

package llm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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

// maxFile is the size of the largest file of models, in bytes.
const maxFile = 1 << 20

// Load reads the file of models: {"models": [{"name": …, "endpoint": …}, …]}. It reads
// the keys, too. The error says which line and model is wrong, and what would be right; it
// never has a key. It is a [*FileError].
func Load(path string) (*Models, error) {
	m, err := load(path)
	if err != nil {
		return nil, &FileError{path, err}
	}
	return m, nil
}

// A FileError says what is wrong with a file of models.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("the file of models %s: %v", e.Path, e.Err) }
func (e *FileError) Unwrap() error { return e.Err }

func load(path string) (*Models, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var raw []byte
		if raw, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil {
			return Parse(raw)
		}
	}
	var cause *os.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return nil, fmt.Errorf("it can't be read: %w", err)
}

// Parse is [Load] for the content of a file.
func Parse(raw []byte) (*Models, error) {
	if len(raw) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	list, lines, err := decode(raw)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(list))
	transport := newTransport()
	for i, m := range list {
		switch {
		case m.Name == "":
			return nil, placeError(lines[i], fmt.Errorf("model %d has no name", i+1))
		case names[m.Name]:
			return nil, placeError(lines[i], fmt.Errorf("two models have the name %q", m.Name))
		}
		names[m.Name], m.transport = true, transport
		if err := m.prepare(); err != nil {
			return nil, placeError(lines[i], fmt.Errorf("%s: %w", m.Name, err))
		}
	}
	return &Models{list}, nil
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
	for _, path := range []string{"/chat/completions", "/completions", "/responses", "/models"} {
		if base, found := strings.CutSuffix(m.Endpoint, path); found {
			return fmt.Errorf("endpoint must be the base URL, %s, without %s: Beam adds /chat/completions itself", base, path)
		}
	}
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

package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

const secret = "0123456789abcdef0123456789abcdef"

// A receiver receives notices; the first fail of them fail.
func receiver(t *testing.T, fail int) (url string, received chan *http.Request, bodies chan string) {
	received, bodies = make(chan *http.Request, 10), make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if fail--; fail >= 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
		received <- r
		bodies <- string(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, received, bodies
}

func newSender(t *testing.T, c Config) *Sender {
	t.Helper()
	c.Secret, c.Logger = secret, slog.New(slog.DiscardHandler)
	if c.State == nil {
		c.State = smallstate.NewMemory()
	}
	if c.Compose == nil {
		c.Compose = func(_ context.Context, askID string) (*Notice, error) { return &Notice{Ask: askID}, nil }
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNotice checks a notice that fails once: its signature, and what it says.
func TestNotice(t *testing.T) {
	url, received, bodies := receiver(t, 1)
	notice := Notice{Ask: "7f3c.2", Run: "7f3c", Photon: "deploy", Kind: "confirm", Message: strings.Repeat("é", 1000), URL: "https://b/asks/7f3c.2", AskedAt: time.Unix(1, 0)}
	s := newSender(t, Config{URL: url, Compose: func(context.Context, string) (*Notice, error) { return &notice, nil }})
	defer s.Close()
	s.Tell(t.Context(), "7f3c.2")
	first, _ := <-received, <-bodies
	r, body := <-received, <-bodies
	mac := hmac.New(sha256.New, []byte(secret))
	io.WriteString(mac, r.Header.Get("webhook-id")+"."+r.Header.Get("webhook-timestamp")+"."+body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want {
		t.Errorf("the signature is %s, want %s", r.Header.Get("webhook-signature"), want)
	}
	if id := r.Header.Get("webhook-id"); id != "ask_7f3c.2" || first.Header.Get("webhook-id") != id {
		t.Errorf("the ids are %s and %s", first.Header.Get("webhook-id"), id)
	}
	var got struct {
		Type string
		Data Notice
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Type != "ask.opened" || got.Data.URL != "https://b/asks/7f3c.2" || len(got.Data.Message) > 510 {
		t.Errorf("the notice is %s, %v", body, err)
	}
}

// TestAtMostOnce checks that a question is told once, also by the next process.
func TestAtMostOnce(t *testing.T) {
	url, received, _ := receiver(t, 0)
	state := smallstate.NewMemory()
	s := newSender(t, Config{URL: url, State: state})
	s.Tell(t.Context(), "a.1")
	s.Tell(t.Context(), "a.1")
	<-received
	s.Close()
	s = newSender(t, Config{URL: url, State: state})
	defer s.Close()
	s.Tell(t.Context(), "a.1")
	s.Tell(t.Context(), "a.2")
	if r := <-received; r.Header.Get("webhook-id") != "ask_a.2" {
		t.Errorf("%s was told again", r.Header.Get("webhook-id"))
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"another machine in the clear": {URL: "http://chat.example/", Secret: secret},
		"a password":                   {URL: "https://ada:pw@chat.example/", Secret: secret},
		"no host":                      {URL: "hook", Secret: secret},
		"a short secret":               {URL: "https://chat.example/", Secret: "short"},
		"a secret that isn't base64":   {URL: "https://chat.example/", Secret: "whsec_%%%"},
	} {
		if s, err := New(c); err == nil {
			s.Close()
			t.Errorf("%s is accepted", name)
		}
	}
}

// Package webhook tells a URL of each question that is asked, as Standard Webhooks
// (standardwebhooks.com) says: signed, and tried again until it is received.
package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Notice tells of a question. It has neither what the question shows nor an answer.
type Notice struct {
	Ask      string    `json:"ask"`
	Run      string    `json:"run"`
	Photon   string    `json:"photon"`
	Title    string    `json:"title"` // of the photon
	Kind     string    `json:"kind"`
	Message  string    `json:"message"`
	Owner    string    `json:"owner"` // what people call the run's owner
	URL      string    `json:"url,omitempty"`
	AskedAt  time.Time `json:"askedAt"`
	Deadline time.Time `json:"deadline,omitzero"`
}

// Config configures a sender. Secret has at least 16 bytes.
type Config struct {
	URL    string
	Secret string // "whsec_" and base64, or any text
	// Record is the file that records which questions were told; empty records them in
	// memory.
	Record string
	Logger *slog.Logger
}

// Limits on what waits to be sent, on each attempt, and on the message of a question.
const (
	maxQueued      = 1_000
	attemptTimeout = 10 * time.Second
	maxMessage     = 500 // bytes
)

// retryWaits are the waits before further attempts.
var retryWaits = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// minSecret is the length of the shortest secret, in bytes.
const minSecret = 16

// A Sender sends notices, one after the other. Its methods may be called from several
// goroutines.
type Sender struct {
	url    string
	key    []byte
	client *http.Client
	logger *slog.Logger
	queue  chan Notice
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	told   map[string]struct{}
	record *os.File // nil without one
}

// CheckURL returns an error if notices can't be sent to a URL.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("must be a URL such as https://chat.example/hooks/beam, without a password")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"):
		return nil
	}
	return errors.New("must begin with https://, or with http:// for this machine")
}

// New returns a sender. The caller closes it.
func New(c Config) (*Sender, error) {
	if err := CheckURL(c.URL); err != nil {
		return nil, err
	}
	key := []byte(c.Secret)
	if encoded, ok := strings.CutPrefix(c.Secret, "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, errors.New("the secret of the webhook must be base64 after whsec_")
		}
	}
	if len(key) < minSecret {
		return nil, fmt.Errorf("the secret of the webhook must have at least %d bytes: openssl rand -hex 16 makes one", minSecret)
	}
	s := &Sender{
		url: c.URL, key: key, logger: c.Logger, queue: make(chan Notice, maxQueued), done: make(chan struct{}), told: make(map[string]struct{}),
		client: &http.Client{Timeout: attemptTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if err := s.openRecord(c.Record); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.sendQueued(ctx)
	return s, nil
}

// openRecord reads which questions were told, and goes on recording.
func (s *Sender) openRecord(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading which questions were told: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		s.told[lines.Text()] = struct{}{}
	}
	s.record, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// Tell queues a notice, unless its question was told already. It doesn't block.
func (s *Sender) Tell(n Notice) {
	if len(n.Message) > maxMessage {
		n.Message = strings.ToValidUTF8(n.Message[:maxMessage], "") + " …"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, told := s.told[n.Ask]; told {
		return
	}
	select {
	case s.queue <- n:
	default:
		s.logger.Error("too many questions wait to be told to the webhook; this one isn't", "ask", n.Ask)
		return
	}
	s.told[n.Ask] = struct{}{}
}

// Settled forgets a question that is settled, in memory.
func (s *Sender) Settled(askID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.record == nil {
		delete(s.told, askID)
	}
}

// Close stops sending. What is queued isn't sent, and recorded only if it was tried.
func (s *Sender) Close() error {
	if s == nil {
		return nil
	}
	s.cancel()
	<-s.done
	if s.record != nil {
		return s.record.Close()
	}
	return nil
}

func (s *Sender) sendQueued(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case n := <-s.queue:
			s.send(ctx, n)
		case <-ctx.Done():
			return
		}
	}
}

// send records a notice and sends it, up to a number of times. A notice that is being sent
// when the process ends isn't sent again: at most once is better than twice.
func (s *Sender) send(ctx context.Context, n Notice) {
	if s.record != nil {
		if _, err := s.record.WriteString(n.Ask + "\n"); err != nil {
			s.logger.Error("recording a question that is told to the webhook; it isn't told", "ask", n.Ask, "err", err)
			return
		}
	}
	for attempt := 0; ; attempt++ {
		err := s.post(ctx, n)
		if err == nil || ctx.Err() != nil {
			return
		}
		if attempt == len(retryWaits) {
			s.logger.Error("the webhook received no notice of a question", "ask", n.Ask, "attempts", attempt+1, "err", err)
			return
		}
		s.logger.Warn("telling the webhook of a question; will try again", "ask", n.Ask, "wait", retryWaits[attempt].String(), "err", err)
		select {
		case <-time.After(retryWaits[attempt]):
		case <-ctx.Done():
			return
		}
	}
}

// post sends a notice once. Its error doesn't have the URL, which may be a secret.
func (s *Sender) post(ctx context.Context, n Notice) error {
	now := time.Now()
	body, err := json.Marshal(map[string]any{"type": "ask.opened", "timestamp": n.AskedAt.UTC().Format(time.RFC3339Nano), "data": n})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	id, timestamp := "ask_"+n.Ask, strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "beam")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", "v1,"+s.sign(id, timestamp, body))
	response, err := s.client.Do(r)
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("it responds with %s", response.Status)
	}
	return nil
}

// sign returns the signature of a notice, as Standard Webhooks says.
func (s *Sender) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

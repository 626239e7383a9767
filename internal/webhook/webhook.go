// Package webhook tells a URL of each question that is asked, as Standard Webhooks
// (standardwebhooks.com) says: signed, and tried again until it is received.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

// A Notice tells of a question. It has neither what the question shows nor an answer.
type Notice struct {
	Ask      string    `json:"ask"`
	Run      string    `json:"run"`
	Photon   string    `json:"photon"`
	Title    string    `json:"title"` // of the photon, or which server's tool asks
	Server   string    `json:"server,omitempty"`
	Tool     string    `json:"tool,omitempty"`
	Kind     string    `json:"kind"`
	Message  string    `json:"message"`
	Owner    string    `json:"owner"` // what people call the run's owner
	URL      string    `json:"url,omitempty"`
	AskedAt  time.Time `json:"askedAt"`
	Deadline time.Time `json:"deadline,omitzero"`
	Lost     bool      `json:"lost,omitempty"` // a restart of Beam withdraws the question
}

// Config configures a sender. Secret has at least 16 bytes.
type Config struct {
	URL    string
	Secret string // "whsec_" and base64, or any text
	// State records which questions were told; see [RecordBucket].
	State smallstate.Store
	// Compose returns the notice of a question as it is now, for each attempt; nil if the
	// question isn't open any more, so that it needn't be told, and whether it was told is
	// forgotten. After an error, Compose is tried again as a receiver that fails. It may be
	// called from several goroutines.
	Compose func(ctx context.Context, askID string) (*Notice, error)
	Logger  *slog.Logger
}

// Limits on what waits to be sent, on requests at once, on each, and on the message of a
// question.
const (
	maxPending     = 1_000
	maxSending     = 4
	attemptTimeout = 10 * time.Second
	maxMessage     = 500 // bytes
)

// retryWaits are the waits before further attempts.
var retryWaits = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// minSecret is the length of the shortest secret, in bytes.
const minSecret = 16

// A Sender sends notices, some at once and in no particular order: one that fails waits
// for its next attempt apart from the others. Its methods may be called from several
// goroutines.
type Sender struct {
	url     string
	key     []byte
	client  *http.Client
	compose func(context.Context, string) (*Notice, error)
	logger  *slog.Logger
	due     chan *delivery // has room for all that are pending
	pending chan struct{}  // has as many as wait or are being sent
	cancel  context.CancelFunc
	done    sync.WaitGroup
	told    *record
}

// A delivery is a question that is to be told.
type delivery struct {
	ask      string // its id
	attempts int    // so far
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
		url: c.URL, key: key, compose: c.Compose, logger: c.Logger, due: make(chan *delivery, maxPending), pending: make(chan struct{}, maxPending),
		client: &http.Client{Timeout: attemptTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	var err error
	if s.told, err = openRecord(context.Background(), c.State); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	for range maxSending {
		s.done.Go(func() { s.sendDue(ctx) })
	}
	return s, nil
}

// IsTold reports whether a question was told, or waits for that.
func (s *Sender) IsTold(ctx context.Context, askID string) bool { return s.told.has(ctx, askID) }

// Tell queues the notice of a question, unless it was told already. While as many wait as may,
// it blocks until ctx is done.
func (s *Sender) Tell(ctx context.Context, askID string) {
	if s.IsTold(ctx, askID) {
		return
	}
	select {
	case s.pending <- struct{}{}:
	case <-ctx.Done():
		return
	}
	if !s.told.add(askID) {
		<-s.pending
		return
	}
	s.due <- &delivery{ask: askID}
}

// Close stops sending. What is pending isn't sent, and recorded only if it was tried.
func (s *Sender) Close() {
	s.cancel()
	s.done.Wait()
}

func (s *Sender) sendDue(ctx context.Context) {
	for {
		select {
		case d := <-s.due:
			if !s.attempt(ctx, d) {
				s.finish(d)
			}
		case <-ctx.Done():
			return
		}
	}
}

// finish forgets a notice that needs no further attempt.
func (s *Sender) finish(d *delivery) {
	s.told.drop(d.ask)
	<-s.pending
}

// attempt sends a notice whose question is still open, and reports whether it is to be
// tried again. It is recorded before its first attempt: one that is being sent when the
// process ends isn't sent again, because at most once is better than twice.
func (s *Sender) attempt(ctx context.Context, d *delivery) (again bool) {
	n, err := s.compose(ctx, d.ask)
	if n == nil && err == nil {
		return false
	}
	if d.attempts == 0 {
		if first, err := s.record(ctx, d.ask); err != nil {
			s.logger.Error("recording a question that is told to the webhook; it isn't told", "ask", d.ask, "err", err)
			return false
		} else if !first {
			return false
		}
	}
	if err == nil {
		err = s.post(ctx, *n)
	}
	d.attempts++
	switch {
	case err == nil || ctx.Err() != nil:
		return false
	case d.attempts > len(retryWaits):
		s.logger.Error("the webhook received no notice of a question", "ask", d.ask, "attempts", d.attempts, "err", err)
		return false
	}
	wait := retryWaits[d.attempts-1]
	s.logger.Warn("telling the webhook of a question; will try again", "ask", d.ask, "wait", wait.String(), "err", err)
	time.AfterFunc(wait, func() { s.due <- d })
	return true
}

// record records that a question is told, and reports whether it wasn't told before. It forgets
// those that are settled if there are many.
func (s *Sender) record(ctx context.Context, askID string) (first bool, err error) {
	first, full, err := s.told.write(ctx, askID)
	if full {
		if err := s.told.forget(ctx, s.isSettled); err != nil {
			s.logger.Error("removing settled questions from the record of the webhook", "err", err)
		}
	}
	return first, err
}

func (s *Sender) isSettled(ctx context.Context, askID string) bool {
	n, err := s.compose(ctx, askID)
	return n == nil && err == nil
}

// post sends a notice once. Its error doesn't have the URL, which may be a secret.
func (s *Sender) post(ctx context.Context, n Notice) error {
	now := time.Now()
	if len(n.Message) > maxMessage {
		n.Message = strings.ToValidUTF8(n.Message[:maxMessage], "") + " …"
	}
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

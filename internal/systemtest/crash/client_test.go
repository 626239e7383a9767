package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// A client starts runs of the wizard, follows them to their end across crashes, and
// answers their questions.
type client struct {
	t       testing.TB
	program *program
	http    *http.Client
	// eventData has the data of each event that was received, by the stream's path and
	// the event's id.
	eventData map[string]string
	// thinkTime is the delay before each answer.
	thinkTime time.Duration
	// asked has how long each answer took to bring what comes next, the question or the result.
	asked    []time.Duration
	answered time.Time // zero if nothing is awaited
}

func newClient(t testing.TB, p *program) *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, program: p, http: &http.Client{Jar: jar, Transport: &http.Transport{}}, eventData: map[string]string{}}
}

// doRetrying makes a request and retries it while the program is down.
func (c *client) doRetrying(ctx context.Context, method, path, body string, header ...string) (*http.Response, error) {
	for {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+c.program.addr+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := c.http.Do(r)
		if err == nil && response.StatusCode != http.StatusServiceUnavailable {
			return response, nil
		}
		if err == nil {
			response.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond): // until it has been restarted
		}
	}
}

// completeRun runs a photon from start to result. The start has an idempotency
// key, so that repeating it after a crash doesn't start a second run.
func (c *client) completeRun(ctx context.Context, photon, args, key string) (id, result string, err error) {
	r, err := c.doRetrying(ctx, "POST", "/photons/"+photon+"/runs", args, "Idempotency-Key", key)
	if err != nil {
		return "", "", err
	}
	raw, err := io.ReadAll(r.Body)
	r.Body.Close()
	var started struct{ ID, Events string }
	if err != nil || json.Unmarshal(raw, &started) != nil || started.ID == "" {
		if err != nil {
			return c.completeRun(ctx, photon, args, key) // the response was cut off
		}
		return "", "", fmt.Errorf("start: %s %s", r.Status, raw)
	}
	last := ""
	for result == "" {
		if result, last, err = c.followEvents(ctx, started.Events, last); err != nil {
			return started.ID, "", err
		}
	}
	return started.ID, result, nil
}

// followEvents reads a stream until it ends, and answers the questions in it.
func (c *client) followEvents(ctx context.Context, path, after string) (result, last string, err error) {
	var header []string
	if after != "" {
		header = []string{"Last-Event-ID", after}
	}
	r, err := c.doRetrying(ctx, "GET", path, "", header...)
	if err != nil {
		return "", after, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", after, fmt.Errorf("follow: %s", r.Status)
	}
	last = after
	for id, data := range events(r.Body) {
		if before, again := c.eventData[path+id]; again {
			return "", last, fmt.Errorf("event %s of %s was sent again: %s, before: %s", id, path, data, before)
		}
		c.eventData[path+id], last = data, id
		var m struct {
			ID, Method string
			Params     struct {
				Meta struct {
					Key string `json:"beam/key"`
				} `json:"_meta"`
			}
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return "", last, err
		}
		if isAsk := m.Method == "elicitation/create"; (isAsk || m.Result != nil) && !c.answered.IsZero() {
			c.asked, c.answered = append(c.asked, time.Since(c.answered)), time.Time{}
		}
		if m.Result != nil {
			return string(m.Result), last, nil
		}
		if m.Method == "elicitation/create" {
			if err := c.answerAsk(ctx, m.ID, m.Params.Meta.Key); err != nil {
				return "", last, err
			}
		}
	}
	return "", last, ctx.Err()
}

// events yields the ids and data of the events of a stream. An event that is
// cut off before its empty line isn't yielded.
func events(r io.Reader) iter.Seq2[string, string] {
	return func(yield func(id, data string) bool) {
		id, data := "", ""
		for lines := bufio.NewScanner(r); lines.Scan(); {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "id":
				id = value
			case "data":
				data = value
			case "":
				if data != "" && !yield(id, data) {
					return
				}
				data = ""
			}
		}
	}
}

// answerAsk answers a question and retries until the answer is known to be recorded.
func (c *client) answerAsk(ctx context.Context, id, key string) error {
	select {
	case <-ctx.Done():
	case <-time.After(c.thinkTime):
	}
	c.answered = time.Now()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, id, answers[key])
	r, err := c.doRetrying(ctx, "POST", "/mcp/request", body)
	if err != nil {
		return err
	}
	raw, _ := io.ReadAll(r.Body)
	r.Body.Close()
	switch r.StatusCode {
	case http.StatusAccepted, http.StatusConflict: // it was recorded before the crash
		return nil
	}
	return fmt.Errorf("answer to %s: %s %s", key, r.Status, raw)
}

// answers has the answers that every client gives, by the question's key.
var answers = map[string]string{
	"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`, "confirm": `{"confirm":true}`,
	"preferences": `{"outputFormat":"json"}`,
}

package checker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// A request is made by a person.
type request struct {
	by           Person
	method, path string
	mediaType    string // JSON by default
	body         []byte
	header       []string // names and values
}

// retryDelay is the time until a request is repeated, while the program is down.
const retryDelay = 20 * time.Millisecond

// open sends a request, and repeats it while the program is down, or takes no more. uncertain
// means that an earlier attempt may have been served.
func (c *Checker) open(ctx context.Context, q request) (response *http.Response, uncertain bool, err error) {
	for {
		r, err := http.NewRequestWithContext(ctx, q.method, c.Base+q.path, bytes.NewReader(q.body))
		if err != nil {
			return nil, uncertain, err
		}
		if q.mediaType == "" {
			q.mediaType = "application/json"
		}
		r.Header.Set("Content-Type", q.mediaType)
		r.Header.Set("Authorization", "Bearer "+q.by.Token)
		for i := 0; i < len(q.header); i += 2 {
			r.Header.Set(q.header[i], q.header[i+1])
		}
		response, err = c.http.Do(r)
		switch {
		case err != nil:
			uncertain = true
		case response.StatusCode == http.StatusBadGateway: // a proxy has lost the program
			response.Body.Close()
			uncertain = true
		case response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusTooManyRequests:
			response.Body.Close()
		default:
			return response, uncertain, nil
		}
		select {
		case <-ctx.Done():
			return nil, uncertain, fmt.Errorf("%s %s: %w, after %v", q.method, q.path, ctx.Err(), err)
		case <-time.After(retryDelay):
		}
	}
}

// A reply is a response that was read.
type reply struct {
	status    int
	body      []byte
	uncertain bool // an earlier attempt may have been served
}

// do sends a request and reads its response. It repeats both.
func (c *Checker) do(ctx context.Context, q request) (reply, error) {
	before := false
	for {
		response, uncertain, err := c.open(ctx, q)
		before = before || uncertain
		if err != nil {
			return reply{}, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err == nil {
			return reply{response.StatusCode, body, before}, nil
		}
		before = true // it was cut off
	}
}

// get decodes the JSON at a path, and returns the status.
func (c *Checker) get(ctx context.Context, by Person, path string, to any) (status int, err error) {
	r, err := c.do(ctx, request{by: by, method: http.MethodGet, path: path, header: []string{"Accept", "application/json"}})
	if err == nil && r.status == http.StatusOK && to != nil {
		err = json.Unmarshal(r.body, to)
	}
	return r.status, err
}

// An event is one of a stream's.
type event struct{ id, data string }

// readEvents yields the events of a stream. One that is cut off before its empty line isn't
// yielded.
func readEvents(r io.Reader) iter.Seq[event] {
	return func(yield func(event) bool) {
		var e event
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			switch field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); field {
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.data != "" && !yield(e) {
					return
				}
				e.data = ""
			}
		}
	}
}

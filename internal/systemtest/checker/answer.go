package checker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// beAsked answers a question, or stops the run.
func (r *run) beAsked(ctx context.Context, m message) error {
	c, key := r.checker, m.Params.Meta.Key
	c.mu.Lock()
	again := c.asks[m.ID] != 0
	if !again {
		c.asks[m.ID] = askOpen
	}
	c.mu.Unlock()
	if again {
		return fmt.Errorf("question %s is asked again", m.ID)
	}
	c.count("questions", 1)
	r.open[m.ID] = key
	a, known := r.play.answers[key]
	if !known && r.play.fallback != nil {
		a, known = r.play.fallback(m.Method), true
	}
	switch {
	case !known:
		return fmt.Errorf("it asks for %q: %v", key, m)
	case r.holdUntil != nil:
		select {
		case <-r.holdUntil:
			r.holdUntil = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.random.IntN(4) == 0 {
		if err := r.refuse(ctx, m.ID, key, a); err != nil {
			return err
		}
	}
	if r.play.stop {
		return r.stop(ctx)
	}
	if a.ignored {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(r.random.IntN(100)) * time.Millisecond): // a person thinks
	}
	return r.answer(ctx, m.ID, key, a)
}

func (r *run) stop(ctx context.Context) error {
	response, err := r.checker.do(ctx, request{by: r.owner, method: http.MethodPost, path: "/runs/" + r.id + "/cancel"})
	if err == nil && response.status != http.StatusAccepted && !(response.uncertain && response.status == http.StatusConflict) {
		err = fmt.Errorf("stopping it gets %d %s", response.status, response.body)
	}
	return err
}

// response returns the request that answers a question.
func (a answer) response(by Person, id, key, content string) (request, error) {
	q := request{by: by, method: http.MethodPost, path: "/mcp/request"}
	form := "/mcp/request?action=accept&ask=" + url.QueryEscape(id)
	switch {
	case a.file != nil:
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile("file", "file.bin")
		if err == nil {
			_, err = part.Write(a.file)
		}
		q.path, q.mediaType = form, w.FormDataContentType()
		err = errors.Join(err, w.Close())
		q.body = body.Bytes()
		return q, err
	case a.secret != "":
		q.path, q.mediaType = form, "application/x-www-form-urlencoded"
		q.body = []byte(url.Values{key: {a.secret}}.Encode())
	case a.result != "":
		q.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":%s}`, id, a.result)
	case a.action != "":
		q.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":{"action":%q}}`, id, a.action)
	default:
		q.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, id, content)
	}
	return q, nil
}

// refuse has the wrong people see the run and answer its question.
func (r *run) refuse(ctx context.Context, id, key string, a answer) error {
	wrong := []Person{r.checker.Stranger}
	if a.approver {
		wrong = append(wrong, r.owner, r.checker.Operator)
	}
	for _, p := range wrong {
		q, err := a.response(p, id, key, fmt.Sprintf(`{%q:"from the wrong person"}`, key))
		if err != nil {
			return err
		}
		response, err := r.checker.do(ctx, q)
		if err != nil {
			return err
		}
		if response.status != http.StatusForbidden && response.status != http.StatusNotFound && response.status != http.StatusConflict {
			return fmt.Errorf("the answer of %s to %s gets %d %s", p.Name, key, response.status, response.body)
		}
		r.checker.count("refused answers", 1)
	}
	for _, path := range []string{"/runs/" + r.id, "/runs/" + r.id + "/log", "/asks/" + id} {
		if status, err := r.checker.get(ctx, r.checker.Stranger, path, nil); err != nil || status != http.StatusForbidden && status != http.StatusNotFound {
			return errors.Join(err, fmt.Errorf("%s gets %d at %s", r.checker.Stranger.Name, status, path))
		}
	}
	return nil
}

// answer answers a question, twice at the same time if the play says so. One answer counts.
func (r *run) answer(ctx context.Context, id, key string, a answer) error {
	by := r.owner
	if a.approver {
		by = r.checker.Approver
	}
	contents, shown := []string{a.content}, []string{a.shown}
	if a.competing != "" {
		contents, shown = append(contents, a.competing), append(shown, a.competed)
		r.checker.count("races", 1)
	}
	r.checker.setAsk(id, askAnswered)
	replies, errs := make([]reply, len(contents)), make([]error, len(contents))
	var all sync.WaitGroup
	for i, content := range contents {
		all.Go(func() {
			q, err := a.response(by, id, key, content)
			if err == nil {
				replies[i], err = r.checker.do(ctx, q)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.judgeAnswers(id, key, replies, shown)
}

// judgeAnswers notes which of the answers at the same time counts.
func (r *run) judgeAnswers(id, key string, replies []reply, shown []string) error {
	accepted, possible := []string{}, []string{}
	for i, reply := range replies {
		switch {
		case reply.status == http.StatusAccepted:
			accepted = append(accepted, shown[i])
		case reply.status == http.StatusConflict && reply.uncertain:
			possible = append(possible, shown[i]) // it was recorded, or another one
		case reply.status == http.StatusConflict && len(replies) > 1:
		case r.mayBeInterrupted(): // it ended with the program
		default:
			return fmt.Errorf("the answer to %s gets %d %s", key, reply.status, reply.body)
		}
	}
	switch {
	case len(accepted) > 1:
		return fmt.Errorf("the answers %q to %s are all accepted", accepted, key)
	case len(accepted) == 1:
		r.given[key] = accepted[0]
	case len(possible) > 0:
		r.checker.count("uncertain answers", 1)
		r.maybe[key] = possible
	case !r.play.fragile:
		return fmt.Errorf("no answer to %s is accepted: %v", key, replies)
	}
	r.checker.count("answers", 1)
	if len(accepted)+len(possible) > 0 {
		r.checker.setAsk(id, askSettled)
	}
	return nil
}

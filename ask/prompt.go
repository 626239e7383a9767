package ask

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/recordedvalue"
)

// A Prompt is a typed question that has not been asked yet. [Prompt.Ask] asks it
// alone; [All] asks several at once. A Prompt may be asked any number of times, and
// from several goroutines.
type Prompt[T any] struct {
	key      string
	question *askdata.Question
	decode   func(driver.Reply) (T, error)
	err      error // why the question is invalid
}

// Ask yields the question and waits for its answer. The error is [ErrDeclined],
// [ErrCancelled], [ErrTimeout], [ErrUnsupported], [ErrInvalid], [ErrStopped],
// [ErrSuspended], a [*PolicyError], or says why the question itself is invalid.
func (p *Prompt[T]) Ask(yield generators.Yield) (T, error) {
	c, err := p.yieldCall(yield, false)
	if err == nil {
		c.Wait() // its reply is read later, so that it takes no room on the stack of a waiting run
	}
	return p.decodeReply(c, err)
}

// yieldCall yields the call without waiting for its reply.
func (p *Prompt[T]) yieldCall(yield generators.Yield, more bool) (*driver.Call, error) {
	if p.err != nil {
		return nil, p.err
	}
	c := call.New(string(p.question.Kind), p.key, p.question)
	c.More = more
	yield(driver.NewEvent(c)) // if yield returns false, the reply has the reason
	return c, nil
}

// decodeReply returns the answer of a call, unless it could not be yielded.
func (p *Prompt[T]) decodeReply(c *driver.Call, err error) (T, error) {
	r := driver.Reply{Err: err}
	if err == nil {
		r = c.Wait()
	}
	by, _ := r.By.(*generators.Caller)
	p.storeAnsweredBy(by)
	if r.Err != nil {
		var zero T
		return zero, r.Err
	}
	v, err := p.decode(r)
	if err != nil {
		err = &recordedvalue.Error{What: fmt.Sprintf("answer to the question %q", c.Key), Err: err}
	}
	return v, err
}

// storeAnsweredBy stores who answered where AnsweredBy says; by may be nil.
func (p *Prompt[T]) storeAnsweredBy(by *generators.Caller) {
	if p.question == nil || p.question.AnsweredBy == nil {
		return
	}
	if by == nil {
		by = &generators.Caller{}
	}
	*p.question.AnsweredBy = *by
}

// newPrompt returns a prompt for a kind of one field. The key names the field.
func newPrompt[T any](key, message string, kind askdata.Kind, choices []Choice, opts []Option, decode func(json.RawMessage) (T, error)) *Prompt[T] {
	f, _ := kind.Field()
	f.Name, f.Required, f.Choices = key, true, choiceData(choices)
	q := &askdata.Question{Kind: kind, Message: message, Fields: askdata.Fields{f}}
	p := &Prompt[T]{key: key, question: q}
	p.err = p.applyOptions(opts)
	p.decode = func(r driver.Reply) (v T, err error) {
		raw, err := askdata.Property(r.Value, key)
		if err != nil || raw == nil {
			return v, err
		}
		if v, err = decode(raw); err != nil {
			return v, fmt.Errorf("the answer to %s: %w", key, err)
		}
		return v, nil
	}
	return p
}

// applyOptions applies the options and validates the question.
func (p *Prompt[T]) applyOptions(opts []Option) error {
	for _, opt := range opts {
		if err := opt.apply(p.question); err != nil {
			return fmt.Errorf("ask %q: %w", p.key, err)
		}
	}
	if p.key == "" {
		return errors.New("a question needs a key")
	}
	if err := p.question.Validate(); err != nil {
		return fmt.Errorf("ask %q: %w", p.key, err)
	}
	return nil
}

func decodeString(raw json.RawMessage) (string, error) {
	if rawjson.IsPlainText(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	return decodeAs[string](raw)
}

func decodeAs[T any](raw json.RawMessage) (v T, err error) {
	return v, json.Unmarshal(raw, &v)
}

package ask

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A Prompt is a typed question that has not been asked yet. [Prompt.Ask] asks it
// alone; [All] asks several at once. A Prompt may be asked any number of times, and
// from several goroutines.
type Prompt[T any] struct {
	key      string
	question *Question
	decode   func(generators.Reply) (T, error)
	err      error // why the question is invalid
}

// Ask yields the question and waits for its answer. The error is [ErrDeclined],
// [ErrCancelled], [ErrTimeout], [ErrUnsupported], [ErrInvalid], [ErrStopped],
// [ErrSuspended], a [*PolicyError], or says why the question itself is invalid.
func (p *Prompt[T]) Ask(yield generators.Yield) (T, error) {
	c, err := p.yieldCall(yield, false)
	if err != nil {
		return p.decodeReply(generators.Reply{Err: err})
	}
	return p.decodeReply(c.Wait())
}

// yieldCall yields the call without waiting for its reply.
func (p *Prompt[T]) yieldCall(yield generators.Yield, more bool) (*generators.Call, error) {
	if p.err != nil {
		return nil, p.err
	}
	c := generators.NewCall(string(p.question.Kind), p.key, p.question)
	c.More = more
	yield(c) // if yield returns false, the reply has the reason
	return c, nil
}

func (p *Prompt[T]) decodeReply(r generators.Reply) (T, error) {
	if r.Err != nil {
		var zero T
		return zero, r.Err
	}
	return p.decode(r)
}

// Into returns an item for [All] that stores the answer in *to.
func (p *Prompt[T]) Into(to *T) Item { return &promptItem[T]{p, to, nil} }

// An Item is one of the questions of [All]. [Prompt.Into] returns one.
type Item interface {
	promptError() error
	yieldCall(yield generators.Yield, more bool) error
	awaitReply() error
}

type promptItem[T any] struct {
	prompt *Prompt[T]
	to     *T
	call   *generators.Call
}

func (i *promptItem[T]) promptError() error { return i.prompt.err }

func (i *promptItem[T]) yieldCall(yield generators.Yield, more bool) (err error) {
	i.call, err = i.prompt.yieldCall(yield, more)
	return err
}

func (i *promptItem[T]) awaitReply() error {
	v, err := i.prompt.decodeReply(i.call.Wait())
	if err != nil {
		return fmt.Errorf("%s: %w", i.prompt.key, err)
	}
	*i.to = v
	return nil
}

// MaxAtOnce is the maximum number of questions that [All] asks at once.
const MaxAtOnce = 100

// All asks several questions at once and returns when all of them are settled. It
// stores the answers that it got even if it returns an error, which joins the
// errors of the other questions. If there are more than [MaxAtOnce] items, All asks
// none of them, so that nobody answers in vain, and returns a [*PolicyError].
func All(yield generators.Yield, items ...Item) error {
	if n := len(items); n > MaxAtOnce {
		return &PolicyError{fmt.Sprintf("%d questions at once are too many: ask at most %d, or ask one form", n, MaxAtOnce)}
	}
	asked := make([]Item, 0, len(items))
	var errs []error
	for _, i := range items {
		if err := i.promptError(); err != nil {
			errs = append(errs, err)
			continue
		}
		asked = append(asked, i)
	}
	for n, i := range asked {
		errs = append(errs, i.yieldCall(yield, n < len(asked)-1))
	}
	for _, i := range asked {
		errs = append(errs, i.awaitReply())
	}
	return errors.Join(errs...)
}

// newPrompt returns a prompt for a kind of one field. The key names the field.
func newPrompt[T any](key, message string, kind Kind, choices []Choice, opts []Option, decode func(json.RawMessage) (T, error)) *Prompt[T] {
	f := kind.rules().field
	f.Name, f.Required, f.Choices = key, true, choices
	q := &Question{Kind: kind, Message: message, Fields: Fields{f}}
	p := &Prompt[T]{key: key, question: q}
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) (v T, err error) {
		raw, err := property(r.Value, key)
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
		if err := opt(p.question); err != nil {
			return fmt.Errorf("ask %q: %w", p.key, err)
		}
	}
	if p.key == "" {
		return errors.New("a question needs a key")
	}
	if err := p.question.validate(); err != nil {
		return fmt.Errorf("ask %q: %w", p.key, err)
	}
	return nil
}

// property returns a member of an answer's content, or nil if it is missing.
func property(content json.RawMessage, name string) (json.RawMessage, error) {
	if rawjson.TypeName(content) != rawjson.ObjectType {
		return nil, fmt.Errorf("the answer to %s is not an object", name)
	}
	return rawjson.Member(content, name), nil
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

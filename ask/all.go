package ask

import (
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

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
	call   *driver.Call
}

func (i *promptItem[T]) promptError() error { return i.prompt.err }

func (i *promptItem[T]) yieldCall(yield generators.Yield, more bool) (err error) {
	i.call, err = i.prompt.yieldCall(yield, more)
	return err
}

func (i *promptItem[T]) awaitReply() error {
	v, err := i.prompt.decodeReply(i.call, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", i.prompt.key, err)
	}
	*i.to = v
	return nil
}

// All asks several questions at once and returns when all of them are settled. It
// stores the answers that it got even if it returns an error, which joins the
// errors of the other questions. If there are more than 100 items, All asks
// none of them, so that nobody answers in vain, and returns a [*PolicyError].
func All(yield generators.Yield, items ...Item) error {
	if n := len(items); n > askdata.MaxAtOnce {
		return &PolicyError{fmt.Sprintf("%d questions at once are too many: ask at most %d, or ask one form", n, askdata.MaxAtOnce)}
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

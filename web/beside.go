package web

import (
	"iter"

	"github.com/photon-beam/beam/sse"
)

// steps are what a stream sends, bit by bit.
type steps = iter.Seq2[[]sse.Message, error]

// beside tells two things' steps as they come. It ends with the first of them,
// if the second goes on and on, or else with both.
func beside(first, second steps, goesOn bool) steps {
	return func(yield func([]sse.Message, error) bool) {
		ended := make(chan struct{})
		defer close(ended)
		one, two := running(ended, first), running(ended, second)
		for one != nil || two != nil && !goesOn {
			var s step
			var more bool
			select {
			case s, more = <-one:
				if !more {
					one = nil
				}
			case s, more = <-two:
				if !more {
					two = nil
				}
			}
			if more && !yield(s.messages, s.err) {
				return
			}
		}
	}
}

type step struct {
	messages []sse.Message
	err      error
}

// running runs steps in a goroutine of their own until it ends or nobody takes
// them any more.
func running(ended <-chan struct{}, run steps) <-chan step {
	taken := make(chan step)
	go func() {
		defer close(taken)
		for messages, err := range run {
			select {
			case taken <- step{messages, err}:
			case <-ended:
				return
			}
		}
	}()
	return taken
}

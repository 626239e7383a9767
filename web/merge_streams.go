package web

import (
	"iter"

	"github.com/photon-beam/beam/sse"
)

// messageStream are what a stream sends, bit by bit.
type messageStream = iter.Seq2[[]sse.Message, error]

// mergeStreams tells two things' steps as they come. It ends with the first of them,
// if the second goes on and on, or else with both.
func mergeStreams(first, second messageStream, goesOn bool) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		ended := make(chan struct{})
		defer close(ended)
		one, two := startStream(ended, first), startStream(ended, second)
		for one != nil || two != nil && !goesOn {
			var s streamItem
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

type streamItem struct {
	messages []sse.Message
	err      error
}

// startStream runs steps in a goroutine of their own until it ends or nobody takes
// them any more.
func startStream(ended <-chan struct{}, run messageStream) <-chan streamItem {
	taken := make(chan streamItem)
	go func() {
		defer close(taken)
		for messages, err := range run {
			select {
			case taken <- streamItem{messages, err}:
			case <-ended:
				return
			}
		}
	}()
	return taken
}

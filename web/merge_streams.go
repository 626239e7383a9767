package web

import (
	"iter"

	"github.com/photon-beam/beam/sse"
)

// A messageStream yields the messages of a stream in batches.
type messageStream = iter.Seq2[[]sse.Message, error]

// mergeStreams merges two streams as their messages arrive. It ends with first if
// secondIsEndless, else with both.
func mergeStreams(first, second messageStream, secondIsEndless bool) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		done := make(chan struct{})
		defer close(done)
		a, b := startStream(done, first), startStream(done, second)
		for a != nil || b != nil && !secondIsEndless {
			var s streamItem
			var more bool
			select {
			case s, more = <-a:
				if !more {
					a = nil
				}
			case s, more = <-b:
				if !more {
					b = nil
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

// startStream runs a stream in a goroutine until it ends or done is closed.
func startStream(done <-chan struct{}, run messageStream) <-chan streamItem {
	items := make(chan streamItem)
	go func() {
		defer close(items)
		for messages, err := range run {
			select {
			case items <- streamItem{messages, err}:
			case <-done:
				return
			}
		}
	}()
	return items
}

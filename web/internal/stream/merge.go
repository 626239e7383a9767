package stream

import "iter"

// mergeStreams merges two streams as their batches arrive. It ends with first if
// secondIsEndless, else with both.
func mergeStreams[T any](first, second iter.Seq2[[]T, error], secondIsEndless bool) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		done := make(chan struct{})
		defer close(done)
		a, b := startStream(done, first), startStream(done, second)
		for a != nil || b != nil && !secondIsEndless {
			var s streamItem[T]
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
			if more && !yield(s.batch, s.err) {
				return
			}
		}
	}
}

type streamItem[T any] struct {
	batch []T
	err   error
}

// startStream runs a stream in a goroutine until it ends or done is closed.
func startStream[T any](done <-chan struct{}, run iter.Seq2[[]T, error]) <-chan streamItem[T] {
	items := make(chan streamItem[T])
	go func() {
		defer close(items)
		for batch, err := range run {
			select {
			case items <- streamItem[T]{batch, err}:
			case <-done:
				return
			}
		}
	}()
	return items
}

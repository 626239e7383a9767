package steps_test

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/mcp/steps"
)

// Steps run in order, even those that steps add, until the queue has ended and is empty.
func TestStepsRunInOrder(t *testing.T) {
	q := steps.NewQueue()
	var got []int
	q.Add(func() {
		got = append(got, 1)
		q.Add(func() {
			got = append(got, 3)
			q.End()
		})
	})
	q.Add(func() { got = append(got, 2) })
	q.Run()
	if want := []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("the steps %v ran, want %v", got, want)
	}
	if q.Add(func() {}) {
		t.Error("a queue that has ended takes a step")
	}
	q.Start()
	q.Wait()
}

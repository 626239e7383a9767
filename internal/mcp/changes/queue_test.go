package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/mcp/changes"
)

// A fakeSource makes one notification for each signal.
type fakeSource struct {
	due     int
	stopped bool
}

func (s *fakeSource) TakeNotifications(json.RawMessage) (notifications [][]byte) {
	for ; s.due > 0; s.due-- {
		notifications = append(notifications, []byte("task"))
	}
	return notifications
}

func (s *fakeSource) Stop() { s.stopped = true }

// However often something changes, a client that has not read is notified once.
func TestChangesAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hub changes.Hub
		q := changes.NewQueue(func(_, uri string) bool { return uri != "file:///b" })
		source := &fakeSource{}
		q.SetSource(source)
		hub.Add(q)
		for range 3 {
			hub.Report("notifications/tools/list_changed", "")
			hub.Report("notifications/resources/updated", "file:///a")
			hub.Report("notifications/resources/updated", "file:///b") // the client doesn't want it
		}
		var got []string
		ended := make(chan error)
		go func() {
			ended <- q.SendNotifications(t.Context(), json.RawMessage("7"), func(n []byte) error {
				got = append(got, string(n))
				return nil
			})
		}()
		synctest.Wait()
		source.due = 1
		q.Signal()
		synctest.Wait()
		hub.Remove(q)
		hub.Report("notifications/tools/list_changed", "")
		synctest.Wait()
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"file:///a"}}`,
			"task",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the notifications are %q, want %q", got, want)
		}
		q.Close()
		if err := <-ended; err != nil || !source.stopped {
			t.Errorf("after the queue was closed, sending ends with %v, and the source is stopped: %t", err, source.stopped)
		}
		late := &fakeSource{}
		if q.SetSource(late); !late.stopped {
			t.Error("a closed queue does not stop its new source")
		}
	})
}

func TestSendErrorEndsSending(t *testing.T) {
	q := changes.NewQueue(func(string, string) bool { return true })
	var hub changes.Hub
	hub.Add(q)
	hub.Report("notifications/tools/list_changed", "")
	gone := errors.New("gone")
	if err := q.SendNotifications(context.Background(), nil, func([]byte) error { return gone }); err != gone {
		t.Errorf("sending ends with %v, want the error", err)
	}
}

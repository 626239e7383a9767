package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/runlist"
)

// slowRows are rows whose reader of what is due waits until the store is closed.
type slowRows struct {
	*runlist.Memory
	closed chan struct{}
}

func (r slowRows) Due(context.Context, runlist.Position, int) ([]*runlist.Row, error) {
	<-r.closed
	return nil, errors.New("the store is closed")
}

// A command that is over at once closes the store while the engine reads what is due. That is
// no error that a person should read.
func TestCloseWhileReadingWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		o := testOptions(t)
		o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		rows := slowRows{runlist.NewMemory(o.Log, files.Loader(o.Blobs)), make(chan struct{})}
		o.Log, o.Rows = rows, rows
		e := openTestEngine(t, o)
		synctest.Wait()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		close(rows.closed)
		synctest.Wait()
		if logged.Len() > 0 {
			t.Errorf("closing logs %q", &logged)
		}
	})
}

package clientsession_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/clientsession"
)

// A client that comes back within the grace was never gone.
func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p clientsession.Presence
		p.Enter()
		began := time.Now()
		gone := make(chan bool, 1)
		go func() { gone <- p.AwaitAbsence(t.Context()) }()
		for range 3 {
			time.Sleep(time.Minute)
			p.Leave()
			time.Sleep(clientsession.AbsenceGrace / 2)
			p.Enter()
		}
		p.Leave()
		connected := time.Since(began)
		if !<-gone || time.Since(began) != connected+clientsession.AbsenceGrace {
			t.Errorf("the client counts as gone after %v, %v after it left", time.Since(began), time.Since(began)-connected)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p.Enter()
		go func() { gone <- p.AwaitAbsence(ctx) }()
		cancel()
		if <-gone {
			t.Error("a client counts as gone although it is connected")
		}
	})
}

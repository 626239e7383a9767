package upstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A call's clock stands still while any question is open, and ends the call once it has run
// for the limit.
func TestCallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		clock, ctx := newCallClock(t.Context(), time.Minute)
		defer clock.stop()
		time.Sleep(30 * time.Second)
		clock.pause()
		clock.pause()
		time.Sleep(time.Hour)
		clock.resume()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("it ends while a question is open")
		}
		clock.resume()
		<-ctx.Done()
		if took := time.Since(began); took != 2*time.Hour+time.Minute || !errors.Is(context.Cause(ctx), errCallTimeout) {
			t.Errorf("it ends after %v: %v", took, context.Cause(ctx))
		}
	})
}

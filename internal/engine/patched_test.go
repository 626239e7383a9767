package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A run that passed a patched place with the old code goes on as it was, and one that reaches it
// takes the new way, however often they are resumed.
func TestPatched(t *testing.T) {
	text := func(yield generators.Yield, key string) string {
		v, err := ask.Text(yield, key, "?")
		if err != nil {
			panic(err)
		}
		return key + v
	}
	old := newPhoton("patched", func(_ context.Context, yield generators.Yield) (string, error) {
		return text(yield, "a") + text(yield, "b") + text(yield, "c"), nil
	}, &generators.Options{Durable: true})
	changed := newPhoton("patched", func(_ context.Context, yield generators.Yield) (string, error) {
		s := text(yield, "a")
		for i := range 2 { // one id has one answer
			if generators.Patched(yield, "extra") {
				s += text(yield, fmt.Sprint("extra", i))
			}
		}
		s += text(yield, "b")
		if generators.Patched(yield, "extra") {
			s += "!"
		}
		if generators.Patched(yield, "late") {
			s += text(yield, "late")
		}
		return s + text(yield, "c"), nil
	}, &generators.Options{Durable: true})
	for answered, want := range []string{"a extra0 extra1 b late c", "a b late c", "a b c"} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint(answered, restarts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := testOptions(t, old)
					o.Program = func() string { return "the old program" }
					b := openTestEngine(t, o)
					id := b.startRun("patched", "")
					synctest.Wait()
					for range answered {
						info, _ := b.Info(me, id)
						b.acceptAny(info.Asks[0])
						synctest.Wait()
					}
					b.closeNow()
					o.Photons = testOptions(t, changed).Photons
					o.Program = func() string { return "the new program" }
					b = openTestEngine(t, o)
					for {
						synctest.Wait()
						info, err := b.Info(me, id)
						if err != nil || info.State != engine.Waiting {
							break
						}
						b.acceptAny(info.Asks[0])
						if restarts {
							synctest.Wait()
							b.closeNow()
							b = openTestEngine(t, o)
						}
					}
					var asked []string
					for _, e := range b.entries(id) {
						if e.Kind == runlog.KindAsked {
							a, _ := runlog.Decode[runlog.Asked](e)
							asked = append(asked, a.Key)
						}
					}
					if got := strings.Join(asked, " "); got != want || !slices.Contains(kindsOf(b.entries(id)), runlog.KindFinished) {
						t.Errorf("it asked %s, want %s: %v", got, want, kindsOf(b.entries(id)))
					}
				})
			})
		}
	}
}

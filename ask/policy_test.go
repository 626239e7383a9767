package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

func TestOpenAsksAreBounded(t *testing.T) {
	p := asking.Policy{OpenPerRun: 2, OpenPerOwner: 5}
	for _, tt := range []struct {
		inRun, ofOwner int
		want           string
	}{
		{0, 0, ""}, {1, 4, ""},
		{2, 2, "the run already has 2 open questions"}, {1, 5, "this person already has 5 open questions"},
	} {
		err := p.Admit(&askdata.Question{}, tt.inRun, tt.ofOwner)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d in the run, %d of the owner: %v", tt.inRun, tt.ofOwner, err)
		}
	}
	if err := (asking.Policy{}).Admit(&askdata.Question{}, 1e6, 1e6); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

// With a limit of two, the third of three questions at once is rejected, but not one
// that is asked when those are settled.
func TestDriverBoundsOpenAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		three := make(chan struct{})
		d := Driver{Policy: asking.Policy{OpenPerRun: 2}, Provider: ProviderFunc(func(_ context.Context, key string, _ *askdata.Question) (askdata.Answer, error) {
			if key != "d" {
				<-three
			}
			return accepted(`{"` + key + `":"` + key + `"}`), nil
		})}
		p := photon(func(yield generators.Yield) (string, error) {
			var a, b, c, last string
			go func() {
				synctest.Wait() // until the first two are open
				close(three)
			}()
			err := ask.All(yield, ask.ForText("a", "m").Into(&a), ask.ForText("b", "m").Into(&b), ask.ForText("c", "m").Into(&c))
			var policy *ask.PolicyError
			if !errors.As(err, &policy) || !strings.HasPrefix(err.Error(), "c: ") {
				t.Errorf("three questions at once: %v", err)
			}
			last, err = ask.Text(yield, "d", "m")
			return a + b + c + last, err
		})
		result, err := d.Run(t.Context(), p, json.RawMessage("{}"))
		if err != nil || string(result) != `"abd"` {
			t.Errorf("got %s, %v", result, err)
		}
	})
}

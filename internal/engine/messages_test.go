package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/recording"
)

// Secrets that a run was given are masked in its messages at any time: while it works, once it is
// evicted, after a restart, and when a message is read after the run's end. Of what comes after
// that, when nobody knows them any more, no content is kept.
func TestMessagesAreMaskedAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vault := newPhoton("vault", func(_ context.Context, yield generators.Yield) (any, error) {
			if _, err := ask.Secret(yield, "token", "Token?"); err != nil {
				return nil, err
			}
			return ask.Text(yield, "next", "And next?")
		}, &generators.Options{Durable: true})
		o := testOptions(t, vault)
		o.KeyDir, o.Limits.EvictAfter = t.TempDir(), time.Second
		b := openTestEngine(t, o)
		id := b.startRun("vault", "")
		said := 0
		say := func() {
			said++
			b.RecordMessage(id, recording.Observed{Side: recording.Client, Peer: "c", Direction: recording.In, Data: []byte(`{"jsonrpc":"2.0","method":"notifications/say","params":{"data":"it is swordfish"}}`)})
		}
		check := func(when, want string) {
			t.Helper()
			messages, err := b.Messages(me, id)
			if err != nil || len(messages) != said {
				t.Fatalf("%s: %d of %d messages are recorded, %v", when, len(messages), said, err)
			}
			for _, m := range messages {
				if strings.Contains(string(m.Message), "swordfish") || m.Method != "notifications/say" {
					t.Errorf("%s: recorded is %s", when, m.Message)
				}
			}
			if last := string(messages[said-1].Message); !strings.Contains(last, want) {
				t.Errorf("%s: recorded is %s", when, last)
			}
		}
		askID, seq := b.waitForAsk(id, 0)
		b.acceptAsk(askID, `{"token":"swordfish"}`)
		askID, _ = b.waitForAsk(id, seq)
		say()
		check("while it works", "it is ••••")
		say() // and is read later
		time.Sleep(2 * time.Second)
		check("read after its eviction", "it is ••••")
		say()
		check("evicted", "it is ••••")
		b.closeNow()
		b = openTestEngine(t, o)
		say()
		check("after a restart", "it is ••••")
		b.acceptAsk(askID, `{"next":"go"}`)
		b.waitForEnd(id)
		say()
		synctest.Wait()
		check("just after its end", "••••")
		b.closeNow()
		b = openTestEngine(t, o)
		say()
		check("long after its end", `"••••"`)
	})
}

// What a run without secrets is told is recorded as it is, also after its end.
func TestMessagesWithoutSecretsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, newPhoton("plain", func(_ context.Context, yield generators.Yield) (any, error) {
			return ask.Text(yield, "next", "And next?")
		}, nil))
		b := openTestEngine(t, o)
		message := recording.Observed{Side: recording.Client, Direction: recording.In, Data: []byte(`{"jsonrpc":"2.0","method":"notifications/say","params":{"data":"it is swordfish"}}`)}
		info, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "plain", Received: message})
		if err != nil {
			t.Fatal(err)
		}
		id := info.ID
		askID, _ := b.waitForAsk(id, 0)
		b.acceptAsk(askID, `{"next":"go"}`)
		b.waitForEnd(id)
		for n := range 2 {
			b.RecordMessage(id, message)
			messages, err := b.Messages(me, id)
			if err != nil || len(messages) != n+2 || !strings.Contains(string(messages[n+1].Message), "it is swordfish") {
				t.Errorf("recorded is %+v, %v", messages, err)
			}
			b.closeNow()
			b = openTestEngine(t, o)
		}
	})
}

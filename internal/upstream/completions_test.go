package upstream

import (
	"encoding/json"
	"fmt"
	"testing"
)

// An upstream may say that an elicitation is complete before the message is handled that
// requires it. What is remembered of that is bounded.
func TestCompletionBeforeTheQuestion(t *testing.T) {
	cs := new(completions)
	for n := range 10 * maxEarlyCompletions {
		cs.complete(json.RawMessage(fmt.Sprintf(`{"elicitationId":"e%d"}`, n)))
	}
	if n := len(cs.early); n != maxEarlyCompletions {
		t.Errorf("%d are remembered", n)
	}
	done := make(chan struct{})
	defer cs.await("e999", func() { close(done) })()
	<-done
}

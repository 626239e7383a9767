package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Many sessions make many calls each, and every call gets the answer to its own
// question.
func TestAnswersDoNotCross(t *testing.T) {
	answerManyCalls(t, 10, 20, 20)
}

// BenchmarkSessions does the same with a hundred sessions of a hundred calls, forty at
// a time in each, because this process holds both ends of every connection. It reports
// the time from an answer to its result.
func BenchmarkSessions(b *testing.B) {
	var took []time.Duration
	begun := time.Now()
	for b.Loop() {
		took = append(took, answerManyCalls(b, 100, 100, 40)...)
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/time.Since(begun).Seconds(), "asks/s")
	for _, q := range []float64{.5, .99} {
		b.ReportMetric(took[int(q*float64(len(took)-1))].Seconds()*1e3, fmt.Sprintf("answer-p%.0f-ms", q*100))
	}
	b.ReportMetric(0, "ns/op")
}

// answerManyCalls makes calls over HTTP in several sessions, atOnce at a time in each.
// It returns the times from each answer to its call's result.
func answerManyCalls(t testing.TB, sessions, calls, atOnce int) (took []time.Duration) {
	type argument struct {
		Name string `json:"name"`
	}
	echo := generators.New("echo", func(_ context.Context, in argument, yield generators.Yield) (string, error) {
		word, err := ask.Text(yield, "word", in.Name+"?")
		return in.Name + "=" + word, err
	}, nil)
	url := newTestServer(t, echo).startHTTPServer(t).URL
	var mu sync.Mutex
	var all sync.WaitGroup
	for s := range sessions {
		v := newHTTPClient(t, url, "2025-11-25", `{"elicitation":{}}`)
		room := make(chan struct{}, atOnce)
		for c := range calls {
			all.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				name := fmt.Sprintf("s%dc%d", s, c)
				one := v.timeEchoCall(c+1, name)
				mu.Lock()
				defer mu.Unlock()
				took = append(took, one)
			})
		}
	}
	all.Wait()
	return took
}

// timeEchoCall makes one call, and returns the time from its answer to its result.
func (v *httpClient) timeEchoCall(id int, name string) time.Duration {
	r := v.postMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"name":%q}}}`, id, name))
	defer r.Body.Close()
	next := v.readEvents(r)
	question := next().data
	if message := jsonMember(v.t, question, "params", "message"); message != `"`+name+`?\n\nThis question is lost if Beam restarts."` {
		v.t.Errorf("call %s is asked %s", name, message)
	}
	begun := time.Now()
	v.postAnswer(question, fmt.Sprintf(`{"word":"for %s"}`, name))
	if got := jsonMember(v.t, next().data, "result", "structuredContent", "result"); got != `"`+name+"=for "+name+`"` {
		v.t.Errorf("call %s ends with %s", name, got)
	}
	return time.Since(begun)
}

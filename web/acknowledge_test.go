package web_test

import (
	"bufio"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The response to an answer is written before what the answer causes appears in the
// caller's stream, however fast the tool is. A client that doesn't read the response
// delays the stream by no more than two seconds.
func TestAnswerIsAcknowledgedBeforeItsEffect(t *testing.T) {
	for name, post := range map[string]string{
		"JSON": "POST /mcp/request HTTP/1.1\r\n{cookie}\r\nContent-Type: application/json\r\nContent-Length: %[1]d\r\n\r\n%[2]s",
		"form": "POST /mcp/request?ask=%[3]s&action=accept HTTP/1.1\r\n{cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\ngo=true",
	} {
		for _, reads := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/read %v", name, reads), func(t *testing.T) {
				runInBubble(t, func(t *testing.T, w *testServer) {
					g := w.newRawClient()
					r, id := g.startAndWait("chatter", `{"events":3}`)
					var received atomic.Int64
					var ended atomic.Pointer[time.Time]
					go g.tryFollow(r.Events, "", func(e event) bool {
						if received.Add(1); e.msg.Result != nil {
							now := time.Now()
							ended.Store(&now)
						}
						return e.msg.Result != nil
					})
					synctest.Wait()
					before := received.Load()

					body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"go":"yes"}}}`, id)
					c := g.sendRaw(fmt.Sprintf(post, len(body), body, id))
					began := time.Now()
					synctest.Wait()
					if got := received.Load(); got != before || ended.Load() != nil {
						t.Errorf("%d events overtook the response", got-before)
					}
					if reads {
						res, err := http.ReadResponse(bufio.NewReader(c), nil)
						if err != nil || res.StatusCode != http.StatusAccepted {
							t.Errorf("%v, %v", res, err)
						}
					} else {
						time.Sleep(3 * time.Second) // in a bubble
					}
					synctest.Wait()
					switch at := ended.Load(); {
					case at == nil:
						t.Error("the stream has no result")
					case reads && at.Sub(began) > 0, at.Sub(began) > 2*time.Second:
						t.Errorf("the result came after %s", at.Sub(began))
					}
					c.Close()
					g.closeIdle()
				})
			})
		}
	}
}

package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// completions are what is done when the upstream says that a person has finished at an
// address. The methods may be called concurrently.
type completions struct {
	mu      sync.Mutex
	awaited []*completion
	// early are the ids of the latest elicitations that were complete before they were asked.
	early []string
}

type completion struct {
	id   string // the upstream's, of the elicitation
	call func()
}

// The limits of the ids that are remembered of elicitations which were complete before they
// were asked: the message that requires one may come by another stream, and later.
const (
	maxEarlyCompletions = 100
	maxElicitationID    = 200 // bytes
)

// await calls f when the upstream says that the elicitation with an id is complete,
// until the caller calls stop. The upstream may have said so already.
func (cs *completions) await(id string, f func()) (stop func()) {
	if id == "" {
		return func() {}
	}
	c := &completion{id, f}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if i := slices.Index(cs.early, id); i >= 0 {
		cs.early = slices.Delete(cs.early, i, i+1)
		go f()
		return func() {}
	}
	cs.awaited = append(cs.awaited, c)
	return func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		cs.awaited = slices.DeleteFunc(cs.awaited, func(other *completion) bool { return other == c })
	}
}

// complete handles notifications/elicitation/complete.
func (cs *completions) complete(params json.RawMessage) {
	var p struct{ ElicitationID string }
	if json.Unmarshal(params, &p) != nil || p.ElicitationID == "" {
		return
	}
	cs.mu.Lock()
	var completed []*completion
	for _, c := range cs.awaited {
		if c.id == p.ElicitationID {
			completed = append(completed, c)
		}
	}
	if completed == nil && len(p.ElicitationID) <= maxElicitationID {
		cs.early = append(cs.early[max(0, len(cs.early)-maxEarlyCompletions+1):], p.ElicitationID)
	}
	cs.mu.Unlock()
	for _, c := range completed {
		go c.call() // it may take as long as the log
	}
}

// codeURLRequired is the code of the error of a call that works only after the person has
// been at some addresses (MCP 2025-11-25, Elicitation, URL Elicitation Required Error).
const codeURLRequired = -32042

// The limits of such errors.
const (
	maxRequiredRounds = 5 // of one call
	maxRequiredURLs   = 20
)

// A requiredURL is an address that the person must have been at.
type requiredURL struct {
	ElicitationID string
	URL           string
	Message       string
}

// requiredURLs returns the addresses that an error requires; nil if it requires none.
func requiredURLs(err error) []requiredURL {
	var refused *message.Error
	if !errors.As(err, &refused) || refused.Code != codeURLRequired {
		return nil
	}
	data, _ := refused.Data.(json.RawMessage)
	if rawjson.TypeName(data) != rawjson.ObjectType {
		return nil
	}
	var urls []requiredURL
	if json.Unmarshal(rawjson.Member(data, "elicitations"), &urls) != nil || len(urls) > maxRequiredURLs {
		return nil
	}
	return urls
}

// askRequired asks the person to open the addresses, and returns once all are done: the
// person reports it, or the upstream does.
func (p *passthrough) askRequired(urls []requiredURL) error {
	var mu sync.Mutex
	var errs []error
	for _, required := range urls {
		address, warning, refused := p.upstream.questions.checkURL(required.URL)
		if refused != nil {
			return refused
		}
		required.URL = address
		p.inGoroutine(func() {
			err := p.askUntilDone(required, warning)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	p.asks.Wait()
	return errors.Join(errs...)
}

func (p *passthrough) askUntilDone(required requiredURL, note string) error {
	end, err := p.upstream.policy.BeginAsk(p.session())
	if err != nil {
		return err
	}
	defer end()
	w := &withdrawer{yield: p.yield}
	completed := make(chan struct{})
	complete := sync.OnceFunc(func() { close(completed); w.withdraw(completedText) })
	defer p.upstream.questions.completions.await(required.ElicitationID, complete)()
	options := append(p.upstream.questions.options(), ask.UntilDone())
	err = ask.URL(p.named(true, note, w.yieldCall), "url", required.Message, required.URL, options...)
	if errors.Is(err, driver.ErrWithdrawn) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the tool needs you to go to an address first: %w", err)
	}
	if required.ElicitationID == "" {
		return nil
	}
	t := time.NewTimer(completionWait)
	defer t.Stop()
	select { // the person may be faster than the upstream
	case <-completed:
	case <-t.C:
	case <-p.ctx.Done():
	}
	return nil
}

// completionWait is how long the upstream may take to notice what the person has done.
const completionWait = 2 * time.Second

// completedText is why a question is withdrawn that the upstream knows to be done.
const completedText = "it was completed at the address"

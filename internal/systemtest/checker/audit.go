package checker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// list returns the ids that all pages of a list have for a person. None may be there twice.
func (c *Checker) list(ctx context.Context, by Person, path, member string) (map[string]bool, error) {
	ids := make(map[string]bool)
	for after := ""; ; {
		var page map[string]any
		status, err := c.get(ctx, by, path+"?after="+url.QueryEscape(after), &page)
		if err != nil || status != http.StatusOK {
			return nil, errors.Join(err, fmt.Errorf("%s gets %d", path, status))
		}
		items, _ := page[member].([]any)
		for _, item := range items {
			id, _ := item.(map[string]any)["id"].(string)
			if ids[id] || id == "" {
				return nil, fmt.Errorf("%s lists %q twice", path, id)
			}
			ids[id] = true
		}
		if after, _ = page["next"].(string); after == "" {
			c.count("lists", 1)
			return ids, nil
		}
	}
}

// asksIn returns the questions in a state.
func (c *Checker) asksIn(state askState) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make(map[string]bool)
	for id, s := range c.asks {
		if s == state {
			ids[id] = true
		}
	}
	return ids
}

// CheckInbox checks that the inbox has each question that is open, and none whose answer was
// acknowledged. Clients may go on meanwhile.
func (c *Checker) CheckInbox(ctx context.Context) error {
	open, settled := c.asksIn(askOpen), c.asksIn(askSettled)
	listed, err := c.list(ctx, c.Operator, "/asks", "asks")
	if err != nil {
		return err
	}
	others, err := c.list(ctx, c.Approver, "/asks", "asks")
	if err != nil {
		return err
	}
	stillOpen := c.asksIn(askOpen)
	for id := range open {
		if stillOpen[id] && !listed[id] && !others[id] && !c.expires(id) {
			return fmt.Errorf("question %s is open, and in no list", id)
		}
	}
	for id := range settled {
		if listed[id] || others[id] {
			return fmt.Errorf("question %s is settled, and listed", id)
		}
	}
	return nil
}

// expires reports whether a question's run may settle it at any time, so that its client knows
// later.
func (c *Checker) expires(ask string) bool {
	id, _, _ := strings.Cut(ask, ".")
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[id]
	return r == nil || r.play.fragile || r.play.stop || r.play.photon == "hurried"
}

// CheckInboxes checks the inbox every now and then, until [Checker.Stop] is called.
func (c *Checker) CheckInboxes(ctx context.Context) {
	for {
		if err := c.CheckInbox(ctx); err != nil && ctx.Err() == nil {
			c.Errorf("the inbox: %v", err)
		}
		select {
		case <-c.over:
			return
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond): // lists announce nothing
		}
	}
}

// CheckEnd checks, when all clients have ended, that the lists have all runs and no others, that
// no question is open, and that the histories of all runs are what they were.
func (c *Checker) CheckEnd(ctx context.Context) error {
	if err := c.CheckInbox(ctx); err != nil {
		return err
	}
	listed, err := c.list(ctx, c.Operator, "/runs", "runs")
	if err != nil {
		return err
	}
	c.mu.Lock()
	runs := make(map[string]*run)
	for id, r := range c.runs {
		runs[id] = r
	}
	c.mu.Unlock()
	for id := range listed {
		switch r := runs[id]; {
		case r == nil:
			err = errors.Join(err, fmt.Errorf("run %s is listed, and nobody has started it", id))
		case r.deleted:
			err = errors.Join(err, fmt.Errorf("run %s is listed, and was deleted", id))
		}
	}
	for id, r := range runs {
		if !listed[id] && !r.deleted && !r.mayBeDeleted() {
			err = errors.Join(err, fmt.Errorf("run %s, %s, isn't listed", r.name, id))
		}
		if histErr := r.checkHistory(ctx); histErr != nil {
			err = errors.Join(err, fmt.Errorf("%s, %s: %w", r.name, id, histErr))
		}
	}
	return err
}

// A Snapshot is what clients have read of runs at a moment.
type Snapshot map[string]readRun

type readRun struct {
	owner  Person
	events []event
}

// Snapshot returns what clients have read by now, of the runs that have ended.
func (c *Checker) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := make(Snapshot)
	for id, r := range c.runs {
		if r.checked && !r.deleted && !r.mayBeDeleted() {
			s[id] = readRun{r.owner, r.events}
		}
	}
	return s
}

// CheckRestored checks that Beam, with a restored backup, has what was read before the backup was
// begun, and wasn't deleted since. It returns the number of runs.
func (c *Checker) CheckRestored(ctx context.Context, s Snapshot) (runs int, err error) {
	for id, was := range s {
		if c.isDeleted(id) {
			continue
		}
		response, _, openErr := c.open(ctx, request{by: was.owner, method: http.MethodGet, path: "/runs/" + id + "/events"})
		if openErr != nil {
			return runs, openErr
		}
		var events []event
		for e := range readEvents(response.Body) {
			events = append(events, e)
		}
		response.Body.Close()
		if !slices.Equal(events, was.events) {
			err = errors.Join(err, fmt.Errorf("run %s gets %s in the backup, and has %d events of %d", id, response.Status, len(events), len(was.events)))
		}
		runs++
	}
	return runs, err
}

func (c *Checker) isDeleted(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[id].deleted
}

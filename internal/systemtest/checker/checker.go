// Package checker checks from outside that a Beam keeps its promises while it is killed,
// restarted, and backed up. It knows only docs/http.md: it starts runs, follows and answers
// them as people do, repeats requests whose fate it doesn't know, and reports whatever was
// lost, doubled, settled twice, or answered by the wrong person.
package checker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Person has a name and a token.
type Person struct{ Name, Token string }

// UsersFile returns the file of users who are such people. Olga is an operator.
func UsersFile(people map[string]Person) any {
	type user struct {
		Name   string              `json:"name"`
		Roles  []string            `json:"roles,omitempty"`
		Tokens []map[string]string `json:"tokens"`
	}
	var users []user
	for _, p := range people {
		u := user{Name: p.Name, Tokens: []map[string]string{{"name": "test", "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(p.Token)))}}}
		if p.Name == "olga" {
			u.Roles = []string{"operator"}
		}
		users = append(users, u)
	}
	return map[string]any{"users": users}
}

// Options configure a checker. All but KeepFor, Upstream and Seed are required.
type Options struct {
	Base     string   // the URL of Beam
	Owners   []Person // start runs
	Approver Person   // whom package photons calls so
	Operator Person
	Stranger Person        // must see and answer nothing
	KeepFor  time.Duration // how long finished runs are kept; 0 for ever
	Upstream string        // the name of a test server among the upstreams; "" for none
	Ledger   string        // the URL at which the checker's ServeHTTP is served
	Seed     uint64        // decides what clients do
	// Errorf reports what breaks a promise.
	Errorf func(format string, args ...any)
}

// A Checker runs clients and knows what they were promised. Its methods may be called
// concurrently.
type Checker struct {
	Options
	http       *http.Client
	interrupts atomic.Int64  // their beginnings and ends: odd while the program ends
	over       chan struct{} // closed when clients begin no more runs

	mu      sync.Mutex
	runs    map[string]*run
	asks    map[string]askState // of all runs
	ledger  map[string][]string // the values of a step, each time that it was taken
	figures map[string]int
}

// An askState is what has become of a question.
type askState int

const (
	askOpen     askState = iota + 1
	askAnswered          // by an answer that isn't acknowledged yet
	askSettled
)

// New returns a checker.
func New(o Options) *Checker {
	return &Checker{
		Options: o, over: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: 2 * time.Minute},
		runs: make(map[string]*run), asks: make(map[string]askState),
		ledger: make(map[string][]string), figures: make(map[string]int),
	}
}

// Interrupt calls end, which ends the program: that interrupts runs that aren't durable.
func (c *Checker) Interrupt(end func()) {
	c.interrupts.Add(1)
	end()
	c.interrupts.Add(1)
}

// Stop lets clients complete their runs and begin no more.
func (c *Checker) Stop() { close(c.over) }

// Run runs clients until [Checker.Stop] is called and all of their runs have ended.
func (c *Checker) Run(ctx context.Context, clients int) {
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { c.runClient(ctx, n) })
	}
	all.Wait()
}

// runClient completes runs, one after the other. Each tenth client leaves its first question
// open until the end.
func (c *Checker) runClient(ctx context.Context, n int) {
	random := rand.New(rand.NewPCG(c.Seed, uint64(n)))
	owner := c.Owners[n%len(c.Owners)]
	for i := 0; ; i++ {
		select {
		case <-c.over:
			return
		case <-ctx.Done():
			return
		default:
		}
		r := &run{checker: c, random: random, owner: owner, name: fmt.Sprintf("client %d run %d", n, i)}
		r.play = choosePlay(c, r, n+i)
		if n%10 == 9 && i == 0 {
			r.play, r.holdUntil = surveyPlay(r), c.over
		}
		if err := r.complete(ctx); err != nil {
			c.Errorf("%s, %s, of %s: %v", r.name, r.id, r.play.photon, err)
		}
	}
}

func (c *Checker) count(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.figures[what] += n
}

// figureNames are what the checker counts, in the order in which it tells.
var figureNames = []string{"runs", "interrupted", "questions", "answers", "uncertain answers", "refused answers", "races", "streams", "events", "steps", "deletions", "lists", "histories", "expired"}

// Figures tells what was done.
func (c *Checker) Figures() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, name := range figureNames {
		all = append(all, fmt.Sprintf("%d %s", c.figures[name], name))
	}
	return strings.Join(all, ", ")
}

// ServeHTTP notes the steps that runs take.
func (c *Checker) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	step, value := r.FormValue("step"), r.FormValue("value")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger[step] = append(c.ledger[step], value)
}

// checkStep checks that a step was taken, and not again after its value was recorded. Values
// are times of equal length.
func (c *Checker) checkStep(step, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.figures["steps"]++
	taken := false
	for _, v := range c.ledger[step] {
		if v > value {
			return fmt.Errorf("step %s was taken at %s, and again at %s", step, value, v)
		}
		taken = taken || v == value
	}
	if !taken {
		return fmt.Errorf("step %s was taken at %q, and the ledger has %q", step, value, c.ledger[step])
	}
	return nil
}

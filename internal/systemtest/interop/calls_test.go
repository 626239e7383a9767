package interop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A client that cancels a call cancels the generator, whose deferred functions run.
func checkCancelledCalls(t *testing.T, ctx context.Context, c *connectedClient) {
	if c.library.sendsNoCancel && c.server != nil && c.version != version20260728 {
		t.Skip("the library tells nobody")
	}
	begun := make(chan struct{}, 1)
	c.person.setOnProgress(func(progress) { begun <- struct{}{} })
	c.checkCancelledCall(t, ctx, "slow", begun)

	over := make(chan struct{})
	defer close(over)
	c.person.elicit = func(ctx context.Context, _ question) (answer, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-over:
		}
		return answer{Action: "cancel"}, ctx.Err()
	}
	if c.version != version20260728 { // from then on, it waits for the response
		c.checkCancelledCall(t, ctx, "slow_ask", begun)
	}
}

// checkCancelledCall cancels a call after it has begun.
func (c *connectedClient) checkCancelledCall(t *testing.T, ctx context.Context, tool string, begun <-chan struct{}) {
	t.Helper()
	name := t.Name() + tool
	call, abort := context.WithCancel(ctx)
	defer abort()
	failed := make(chan error, 1)
	go func() {
		_, err := c.callTool(call, tool, nameArguments(name), name)
		failed <- err
	}()
	select {
	case <-begun:
	case err := <-failed:
		t.Fatalf("%s ended with %v", tool, err)
	case <-ctx.Done():
		t.Fatalf("%s did not begin", tool)
	}
	abort()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%s ended with %v", tool, err)
	}
	if r, err := c.callTool(ctx, "await", nameArguments(name), nil); err != nil || r.text() != name {
		t.Errorf("the defers of %s did not run: %v", tool, err)
	}
}

// Concurrent calls do not get mixed up.
func checkConcurrentCalls(t *testing.T, ctx context.Context, c *connectedClient) {
	const calls = 20
	var mu sync.Mutex
	told := map[any][]progress{}
	complete := make(chan struct{})
	left := calls * 6
	c.person.setOnProgress(func(p progress) {
		mu.Lock()
		defer mu.Unlock()
		told[p.Token] = append(told[p.Token], p)
		if left--; left == 0 {
			close(complete)
		}
	})
	var together sync.WaitGroup
	together.Add(calls)
	c.person.elicit = func(ctx context.Context, q question) (answer, error) {
		name, _, _ := strings.Cut(strings.TrimPrefix(q.Message, "Say "), "\n")
		together.Done()
		if c.library.name == "go-sdk" || c.version == version20260728 { // mcp-go asks its user one question at a time
			together.Wait()
		}
		return newAccept(map[string]any{"text": name}), nil
	}
	var done sync.WaitGroup
	for i := range calls {
		done.Go(func() {
			name := fmt.Sprint("caller-", i)
			r, err := c.callTool(ctx, "echo", nameArguments(name), name)
			if err != nil || !equalJSON(string(r.Structured), fmt.Sprintf(`{"outcome":"accepted","value":"%[1]s=%[1]s"}`, name)) {
				t.Errorf("%s got %+v %v", name, r, err)
			}
		})
	}
	done.Wait()
	select {
	case <-complete:
	case <-ctx.Done():
		t.Error("progress was lost")
	}
	mu.Lock()
	defer mu.Unlock()
	for token, list := range told {
		for i, p := range list {
			if p.Message != token || i > 0 && p.Progress <= list[i-1].Progress {
				t.Errorf("the call %v was told %+v", token, list)
				break
			}
		}
	}
}

// All 500 notifications arrive, in order.
func checkProgressOrder(t *testing.T, ctx context.Context, c *connectedClient) {
	const steps = 500
	var told []float64
	complete := make(chan struct{})
	c.person.setOnProgress(func(p progress) {
		if p.Token == "steps" && p.Total == steps {
			told = append(told, p.Progress)
		}
		if len(told) == steps {
			close(complete)
		}
	})
	if _, err := c.callTool(ctx, "progress", map[string]any{"count": steps}, "steps"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-complete:
	case <-ctx.Done():
		t.Fatal("progress was lost")
	}
	if !slices.IsSorted(told) || told[0] != 1 || told[steps-1] != steps {
		t.Errorf("progress is out of order: %v", told)
	}
}

func checkResults(t *testing.T, ctx context.Context, c *connectedClient) {
	names, err := c.listTools(ctx)
	if c.library.name == "mcp-go" && c.version == version20260728 {
		names, err = []string{"multiselect_titled"}, nil // it can't decode an output schema with two types
	}
	if err != nil || !slices.Contains(names, "multiselect_titled") {
		t.Errorf("the tools are %v, %v", names, err)
	}
	for _, k := range []struct{ tool, text, structured, modern string }{
		{"string", "a string", `{"result":"a string"}`, `"a string"`},
		{"array", "[1,2,3]", `{"result":[1,2,3]}`, `[1,2,3]`},
		{"object", `{"x":1,"y":2}`, `{"x":1,"y":2}`, `{"x":1,"y":2}`},
	} {
		want := k.structured
		if c.version == version20260728 {
			want = k.modern
		}
		r, err := c.callTool(ctx, k.tool, nil, nil)
		if err != nil || r.IsError || r.text() != k.text || !equalJSON(string(r.Structured), want) {
			t.Errorf("%s returned %+v %v, want %s", k.tool, r, err, want)
		}
	}
	if r, err := c.callTool(ctx, "fails", nil, nil); err != nil || !r.IsError || r.text() != "the disk is full" {
		t.Errorf("fails returned %+v %v", r, err)
	}
	if r, err := c.callTool(ctx, "echo", nil, nil); err != nil || !r.IsError || !strings.Contains(r.text(), "/name is required.") {
		t.Errorf("bad arguments returned %+v %v", r, err)
	}
	if _, err := c.callTool(ctx, "nonesuch", nil, nil); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("an unknown tool returned %v", err)
	}
	r, err := c.callTool(ctx, "artifacts", nil, nil)
	var kinds []string
	if err == nil {
		for _, block := range r.Content {
			kinds = append(kinds, block.Type)
		}
	}
	if !slices.Equal(kinds, []string{"text", "image", "resource", "resource", "text"}) {
		t.Errorf("the artifacts are %v, %v", kinds, err)
	}
}

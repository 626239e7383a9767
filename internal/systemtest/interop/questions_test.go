package interop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func checkEveryKind(t *testing.T, ctx context.Context, c *connectedClient) {
	for tool, value := range map[string]string{
		"text": `"Ada"`, "confirm": `true`, "select": `"pear"`, "select_titled": `"g"`,
		"multiselect": `["apple","plum"]`, "multiselect_titled": `["r","b"]`, "number": `2.5`, "integer": `7`,
		"date": `"2026-05-17T00:00:00Z"`, "datetime": `"2026-05-17T12:30:00Z"`,
		"form":   `{"name":"Ada","mail":"ada@example.com","age":36,"plan":"pro"}`,
		"sample": `"Paris (oracle)"`, "roots": `["file:///srv/data"]`, "all": `"Ada true Paris"`, "rounds": `"Ada 7"`,
	} {
		c.expectOutcome(t, ctx, tool, nil, `{"outcome":"accepted","value":`+value+`}`)
		if asked := c.person.takeQuestions(); tool == "confirm" && (len(asked) != 1 || !strings.HasSuffix(asked[0].Message, "Shown by the tool confirm:\n```\n001.sql\nDROP TABLE a;\n```")) {
			t.Errorf("the confirmation was asked as %q", asked)
		}
	}
}

// Passwords, files and questions with UntilDone are only sent as a URL, and answered on
// Beam's page.
func checkPageBeforeConsent(t *testing.T, ctx context.Context, c *connectedClient) {
	checkPages(t, ctx, c, true)
}
func checkConsentBeforePage(t *testing.T, ctx context.Context, c *connectedClient) {
	checkPages(t, ctx, c, false)
}

func checkPages(t *testing.T, ctx context.Context, c *connectedClient, first bool) {
	if c.version == version20250618 {
		for _, tool := range []string{"secret", "file", "url", "url_done"} {
			c.expectRefusal(t, ctx, tool, "elicitation.url")
		}
		return
	}
	var tool string
	c.person.elicit = func(ctx context.Context, q question) (answer, error) {
		if q.Mode != "url" || q.Schema != nil {
			return answer{}, fmt.Errorf("%s was asked by a %s with the schema %v", tool, q.Mode, q.Schema)
		}
		desk, err := c.openPages(ctx)
		if err != nil {
			return answer{}, err
		}
		if first {
			return newAccept(nil), desk.answerToolQuestion(ctx, tool, q.URL)
		}
		go func() {
			if err := desk.answerToolQuestion(context.WithoutCancel(ctx), tool, q.URL); err != nil {
				t.Error(err)
			}
		}()
		return newAccept(nil), nil
	}
	for _, k := range []struct{ tool, value string }{
		{"secret", `"7 characters"`}, {"file", `"notes.txt: hello"`}, {"url_done", `true`},
	} {
		tool = k.tool
		c.expectOutcome(t, ctx, tool, nil, `{"outcome":"accepted","value":`+k.value+`}`)
		for _, q := range c.person.takeQuestions() {
			if strings.Contains(q.URL, "example.com") {
				t.Errorf("%s was asked at %s, want Beam's page", tool, q.URL)
			}
			break
		}
	}
	c.person.elicit = func(_ context.Context, q question) (answer, error) {
		if q.URL != "https://example.com/sign-in" {
			return answer{}, fmt.Errorf("the URL is %s", q.URL)
		}
		return newAccept(nil), nil
	}
	c.expectOutcome(t, ctx, "url", nil, `{"outcome":"accepted","value":true}`)
}

func checkDeclineAndCancel(t *testing.T, ctx context.Context, c *connectedClient) {
	tools := []string{"text", "confirm", "multiselect", "form", "rounds"}
	if c.version != version20250618 {
		tools = append(tools, "secret", "url", "url_done")
	}
	for _, tool := range tools {
		c.person.elicit = answerDecline
		c.expectOutcome(t, ctx, tool, nil, `{"outcome":"declined"}`)
		c.person.elicit = answerCancel
		c.expectOutcome(t, ctx, tool, nil, `{"outcome":"cancelled"}`)
	}
}

// A question is asked again, with the reason, after an invalid answer, but at most
// three times in total.
func checkInvalidAnswers(t *testing.T, ctx context.Context, c *connectedClient) {
	const hint = "must be three capital letters"
	var tries []string
	c.person.elicit = func(context.Context, question) (answer, error) {
		said := tries[0]
		tries = tries[1:]
		return newAccept(map[string]any{"code": said}), nil
	}
	tries = []string{"x", "LH", "LHR"}
	c.expectOutcome(t, ctx, "code", nil, `{"outcome":"accepted","value":"LHR"}`)
	asked := c.person.takeQuestions()
	if len(asked) != 3 {
		t.Fatalf("it was asked %d times, want 3", len(asked))
	}
	for i, q := range asked {
		if again := strings.Contains(q.Message, hint); again != (i > 0) || !strings.HasPrefix(q.Message, "Which airport?") {
			t.Errorf("question %d says %q", i+1, q.Message)
		}
	}
	tries = []string{"x", "y", "z"}
	c.expectRefusal(t, ctx, "code", "got no valid answer", hint)
	if len(tries) > 0 || len(c.person.takeQuestions()) != 3 {
		t.Errorf("the answers %q were not asked for", tries)
	}
}

// Beam asks nothing that needs a capability which the client did not declare. The error
// names the missing capability.
func TestMissingCapabilities(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		runWithEveryClient(t, func() *person { return &person{} }, func(t *testing.T, ctx context.Context, c *connectedClient) {
			c.expectRefusal(t, ctx, "text", "elicitation")
			c.expectRefusal(t, ctx, "secret", "elicitation.url")
			c.expectRefusal(t, ctx, "sample", "sampling")
			c.expectRefusal(t, ctx, "roots", "roots")
			c.expectRefusal(t, ctx, "all", "the capability")
		})
	})
	t.Run("forms", func(t *testing.T) {
		runWithEveryClient(t, func() *person { return &person{forms: true, elicit: fillForm} }, func(t *testing.T, ctx context.Context, c *connectedClient) {
			for _, tool := range []string{"secret", "file", "url", "url_done"} {
				c.expectRefusal(t, ctx, tool, "elicitation.url")
			}
			if asked := c.person.takeQuestions(); asked != nil {
				t.Errorf("it was asked all the same: %v", asked)
			}
			c.expectOutcome(t, ctx, "text", nil, `{"outcome":"accepted","value":"Ada"}`)
		})
	})
	t.Run("urls", func(t *testing.T) {
		runWithEveryClient(t, func() *person { return &person{urls: true, elicit: answerDecline} }, func(t *testing.T, ctx context.Context, c *connectedClient) {
			c.expectRefusal(t, ctx, "text", "elicitation")
			if asked := c.person.takeQuestions(); asked != nil {
				t.Errorf("it was asked all the same: %v", asked)
			}
		})
	})
}

// A question whose own timeout expires is withdrawn. On a busy machine that may be before
// it is asked; then the tool is called again.
func checkTimeout(t *testing.T, ctx context.Context, c *connectedClient) {
	if c.version == version20260728 || c.library.name == "mcp-go" {
		t.Skip("its handler is not told; see the tests of the wire")
	}
	withdrawn := make(chan struct{}, 1)
	c.person.elicit = func(ctx context.Context, _ question) (answer, error) {
		<-ctx.Done()
		select {
		case withdrawn <- struct{}{}:
		default: // it was of a call before
		}
		return answer{}, ctx.Err()
	}
	for len(c.person.takeQuestions()) == 0 {
		if ctx.Err() != nil {
			t.Fatal("the question was not asked")
		}
		c.expectOutcome(t, ctx, "hurried", nil, `{"outcome":"timeout"}`)
	}
	select {
	case <-withdrawn:
	case <-ctx.Done():
		t.Error("the question was not withdrawn")
	}
}

// Package photons has the photons whose runs the checker follows. Their results have every
// answer that they got and every step that they took, so that the checker sees what was lost,
// doubled or exchanged.
package photons

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Approver is the name of the person who alone may answer some questions.
const Approver = "bob"

// All returns the photons.
func All() []*generators.Photon {
	durable := &generators.Options{Durable: true}
	return []*generators.Photon{
		generators.New("survey", survey, durable),
		generators.New("vault", vault, durable),
		generators.New("oracle", oracle, durable),
		generators.New("together", together, durable),
		generators.New("night", night, durable),
		generators.New("approval", approval, durable),
		generators.New("hurried", hurried, durable),
		generators.New("brief", brief, nil),
	}
}

// An Order says who starts a run, and where its steps are noted.
type Order struct {
	Name   string `json:"name"`   // unique
	Ledger string `json:"ledger"` // a URL
	Millis int    `json:"millis,omitempty"`
}

// takeStep takes a step, which the ledger notes each time that it is taken, and returns its
// value: when it was taken last.
func (o Order) takeStep(yield generators.Yield, key string) (string, error) {
	value, err := generators.Step(yield, key, func(ctx context.Context) (string, error) {
		now := fmt.Sprint(time.Now().UnixNano())
		body := url.Values{"step": {o.Name + "/" + key}, "value": {now}}.Encode()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Ledger, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		return now, response.Body.Close()
	})
	if err == nil {
		yield(generators.Statusf("step %s: %s", key, value))
	}
	return value, err
}

// An Outcome is what a run returns.
type Outcome struct {
	Answers map[string]string `json:"answers"`
	Steps   map[string]string `json:"steps"`
}

func newOutcome() Outcome {
	return Outcome{Answers: make(map[string]string), Steps: make(map[string]string)}
}

// A Profile is a form.
type Profile struct {
	Name  string `json:"name"`
	Email string `json:"email" format:"email"`
	Role  string `json:"role" enum:"admin,guest"`
	Age   int    `json:"age" minimum:"18"`
}

// survey asks for the values of a form's fields, and reports much in between.
func survey(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	if out.Steps["reserve"], err = in.takeStep(yield, "reserve"); err != nil {
		return out, err
	}
	yield(generators.File("large.txt", "text/plain", []byte(strings.Repeat(in.Name+"\n", 30_000))))
	if out.Answers["text"], err = ask.Text(yield, "text", "A text?"); err != nil {
		return out, err
	}
	for n := range 40 {
		yield(generators.Progress(float64(n), 40, "at work"))
	}
	sure, err := ask.Confirm(yield, "sure", "Sure?", ask.Destructive(), ask.Showing(generators.Diff("Plan", "a", out.Answers["text"])))
	if err != nil {
		return out, err
	}
	out.Answers["sure"] = fmt.Sprint(sure)
	if out.Answers["choice"], err = ask.Select(yield, "choice", "Which?", ask.Choices("red", "green", "blue")); err != nil {
		return out, err
	}
	several, err := ask.MultiSelect(yield, "several", "Which of these?", ask.Choices("a", "b", "c"))
	if err != nil {
		return out, err
	}
	out.Answers["several"] = strings.Join(several, "")
	profile, err := ask.Form[Profile](yield, "profile", "Who are you?")
	if err != nil {
		return out, err
	}
	out.Answers["profile"] = fmt.Sprintf("%s %s %s %d", profile.Name, profile.Email, profile.Role, profile.Age)
	out.Steps["book"], err = in.takeStep(yield, "book")
	return out, err
}

// Digest returns how an outcome shows a secret or a file.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func vault(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	secret, err := ask.Secret(yield, "secret", "The word?")
	if err != nil {
		return out, err
	}
	file, err := ask.File(yield, "file", "The file?")
	if err != nil {
		return out, err
	}
	if out.Steps["lock"], err = in.takeStep(yield, "lock"); err != nil {
		return out, err
	}
	if out.Answers["text"], err = ask.Text(yield, "text", "A label?"); err != nil {
		return out, err
	}
	content, err := file.Open()
	if err != nil {
		return out, err
	}
	raw, err := io.ReadAll(content)
	out.Answers["secret"], out.Answers["file"] = Digest([]byte(secret)), Digest(raw)
	return out, errors.Join(err, content.Close())
}

// oracle asks a model, in whose place a person answers, and for folders.
func oracle(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	said, err := ask.Sample(yield, "poem", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("A poem"))}, MaxTokens: 100})
	if err != nil {
		return out, err
	}
	out.Answers["poem"] = said.Text()
	roots, err := ask.Roots(yield, "folders")
	if err != nil {
		return out, err
	}
	for _, r := range roots {
		out.Answers["folders"] += r.URI
	}
	out.Steps["read"], err = in.takeStep(yield, "read")
	return out, err
}

// together asks in three goroutines at once, and takes a step in each.
func together(_ context.Context, in Order, yield generators.Yield) (Outcome, error) {
	out := newOutcome()
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	for _, key := range []string{"left", "middle", "right"} {
		all.Add(1)
		began := generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			defer all.Done()
			answer, err := ask.Text(yield, key, "What is there?")
			step := ""
			if err == nil {
				step, err = in.takeStep(yield, "go "+key)
			}
			mu.Lock()
			defer mu.Unlock()
			out.Answers[key], out.Steps["go "+key], errs = answer, step, append(errs, err)
		})
		if !began {
			all.Done()
			return out, generators.ErrStopped
		}
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// night sleeps between two steps.
func night(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	if out.Steps["lie down"], err = in.takeStep(yield, "lie down"); err != nil {
		return out, err
	}
	if err = generators.Sleep(yield, "sleep", time.Duration(in.Millis)*time.Millisecond); err != nil {
		return out, err
	}
	out.Steps["get up"], err = in.takeStep(yield, "get up")
	return out, err
}

// approval asks its owner first, and then somebody else.
func approval(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	if out.Answers["text"], err = ask.Text(yield, "text", "What for?"); err != nil {
		return out, err
	}
	if out.Answers["approve"], err = ask.Text(yield, "approve", "Approved?", ask.From(ask.User(Approver))); err != nil {
		return out, err
	}
	out.Steps["pay"], err = in.takeStep(yield, "pay")
	return out, err
}

// hurried asks a question that expires.
func hurried(_ context.Context, in Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	out.Answers["text"], err = ask.Text(yield, "text", "Quick!", ask.Timeout(time.Duration(in.Millis)*time.Millisecond))
	return out, err
}

// brief asks, and isn't durable.
func brief(_ context.Context, _ Order, yield generators.Yield) (out Outcome, err error) {
	out = newOutcome()
	out.Answers["text"], err = ask.Text(yield, "text", "A text?")
	return out, err
}

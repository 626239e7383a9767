package term

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/sampling"
)

// askApproval asks line by line what is done with a request to a model.
func (l *Lines) askApproval(ctx context.Context, a *approval) error {
	options := a.options()
	for i, o := range options {
		if i < len(a.question.Models) {
			o.Key = "Send it to " + o.Key
		}
		l.say("  %d. %s", i+1, o.Key)
	}
	n, err := l.readNumber(ctx, "Number: ", 0, len(options))
	if err != nil {
		return err
	}
	if a.choice = options[n-1].Value; a.choice != choiceChange {
		return nil
	}
	for i, m := range a.question.Models {
		l.say("  %d. %s", i+1, describeModel(m))
	}
	if n, err = l.readNumber(ctx, "Send it to number [1]: ", 1, len(a.question.Models)); err != nil {
		return err
	}
	a.model = a.question.Models[n-1].Name
	if err := l.readChange(ctx, "System prompt", &a.system); err != nil {
		return err
	}
	if _, ok := a.lastText(); ok {
		if err := l.readChange(ctx, "Last message", &a.message); err != nil {
			return err
		}
	}
	limit := a.question.request().MaxTokens
	if n, err = l.readNumber(ctx, fmt.Sprintf("At most this many tokens [%d]: ", limit), limit, maxCount); err != nil {
		return err
	}
	a.limit = strconv.Itoa(n)
	n, err = l.readNumber(ctx, "Approve this many later requests of the tool, too [none]: ", none, maxCount)
	if a.later = strconv.Itoa(n); n > 0 {
		a.scope = string(sampling.ScopeTool)
	}
	return err
}

// maxCount is the largest number that is asked for; none makes an empty line 0.
const (
	maxCount = 1_000_000_000
	none     = -1
)

// readChange reads another text of several lines; none keeps the text.
func (l *Lines) readChange(ctx context.Context, name string, text *string) error {
	changed, err := l.readText(ctx, name+". Several lines replace it; a dot alone ends them, and a dot at once keeps it:\n")
	if changed != "" {
		*text = changed
	}
	return err
}

// readNumber reads a number from 1 to most; an empty line is otherwise, if that isn't
// 0.
func (l *Lines) readNumber(ctx context.Context, prompt string, otherwise, most int) (int, error) {
	for {
		line, err := l.readLine(ctx, prompt)
		if err != nil {
			return 0, err
		}
		line = strings.TrimSpace(line)
		if line == "" && otherwise != 0 {
			return max(otherwise, 0), nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= most {
			return n, nil
		}
		l.say("Type a number from 1 to %d.", most)
	}
}

package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// prepare returns the answers that the flags give.
func (c *followFlags) prepare(ctx context.Context, p *command.Program, conn *connection) (*term.Prepared, error) {
	prepared := &term.Prepared{}
	if c.AnswersFrom != "" {
		raw, err := earlierAnswers(ctx, conn, c.AnswersFrom)
		if err == nil {
			err = prepared.AddJSON(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("--answers-from: %w", err)
		}
	}
	if c.Answers != "" {
		raw, err := readJSON(p, "--answers", "@"+c.Answers)
		if err != nil {
			return nil, err
		}
		if err := prepared.AddJSON(raw); err != nil {
			return nil, command.UsageErrorf("--answers %s: %w", c.Answers, err)
		}
	}
	for _, pair := range c.Answer {
		if err := prepared.AddText(pair); err != nil {
			return nil, command.UsageErrorf("--answer: %w", err)
		}
	}
	for _, key := range c.Decline {
		prepared.AddDecline(key)
	}
	for _, text := range c.Approve {
		if err := prepared.AddApproval(text); err != nil {
			return nil, command.UsageErrorf("--approve: %w", err)
		}
	}
	return prepared, nil
}

func (c *followFlags) hasAnswers() bool { return c.answerFlags() != "" }

// answerFlags returns the flags with prepared answers that were given, for messages.
func (c *followFlags) answerFlags() string {
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--answer", c.Answer != nil}, {"--answers", c.Answers != ""}, {"--answers-from", c.AnswersFrom != ""}, {"--approve", c.Approve != nil}, {"--decline", c.Decline != nil}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	return strings.Join(given, " and ")
}

// earlierAnswers returns the answers of a run, as a JSON object by key. Secrets and files
// are left out.
func earlierAnswers(ctx context.Context, conn *connection, id string) ([]byte, error) {
	info, err := findRun(ctx, conn, id)
	if err != nil {
		return nil, err
	}
	var recorded runlog.RecordedAsks
	for batch, err := range (untilEntry{conn, info.LastSeq}).Follow(ctx, info.ID, 0) {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			if err := recorded.Add(e); err != nil {
				return nil, err
			}
		}
	}
	answers := make(map[string]json.RawMessage)
	for _, past := range recorded.List {
		if past.Answer != nil {
			answers[past.Key] = preparedAnswer(past)
		}
	}
	return json.Marshal(answers)
}

// preparedAnswer returns a recorded answer as --answers has it.
func preparedAnswer(past runlog.RecordedAsk) json.RawMessage {
	switch {
	case past.Answer.Action == askdata.Decline:
		return json.RawMessage("null")
	case past.Question.Kind == askdata.KindURL:
		return json.RawMessage("true")
	case past.Answer.Content == nil:
		return json.RawMessage("{}")
	}
	return past.Answer.Content
}

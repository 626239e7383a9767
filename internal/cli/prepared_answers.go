package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term"
)

// prepare returns the answers that the flags give.
func (c *followFlags) prepare(ctx context.Context, p *program, conn *connection) (*term.Prepared, error) {
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
			return nil, usageErrorf("--answers %s: %w", c.Answers, err)
		}
	}
	for _, pair := range c.Answer {
		if err := prepared.AddText(pair); err != nil {
			return nil, usageErrorf("--answer: %w", err)
		}
	}
	for _, key := range c.Decline {
		prepared.AddDecline(key)
	}
	for _, text := range c.Approve {
		if err := prepared.AddApproval(text); err != nil {
			return nil, usageErrorf("--approve: %w", err)
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
	asked := make(map[uint64]runlog.Asked)
	answers := make(map[string]json.RawMessage)
	for batch, err := range (untilEntry{conn, info.LastSeq}).Follow(ctx, info.ID, 0) {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			if e.Kind == runlog.KindAsked {
				if asked[e.Seq], err = runlog.Decode[runlog.Asked](e); err != nil {
					return nil, err
				}
			}
			if e.Kind == runlog.KindAnswered {
				a, err := runlog.Decode[runlog.Answered](e)
				if err != nil {
					return nil, err
				}
				addEarlierAnswer(answers, asked[a.AskSeq], a.Answer)
			}
		}
	}
	return json.Marshal(answers)
}

func addEarlierAnswer(answers map[string]json.RawMessage, asked runlog.Asked, a ask.Answer) {
	switch {
	case asked.Question == nil || asked.Question.Kind == ask.KindSecret || a.Files != nil || a.Action == ask.Cancel:
	case a.Action == ask.Decline:
		answers[asked.Key] = json.RawMessage("null")
	case asked.Question.Kind == ask.KindURL:
		answers[asked.Key] = json.RawMessage("true")
	case a.Content == nil && len(asked.Question.Fields) == 0:
		answers[asked.Key] = json.RawMessage("{}")
	case a.Content == nil: // it was sealed, or isn't recorded
	default:
		answers[asked.Key] = a.Content
	}
}

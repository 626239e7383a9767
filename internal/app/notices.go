package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/webhook"
)

// A Webhook is a URL that is told of each question.
type Webhook struct{ URL, Secret string }

// maxAwaitingNotice is how many new questions wait until the webhook's notices of them are
// made.
const maxAwaitingNotice = 10_000

// newNotices returns what tells the webhook of each question, nil if there is no webhook. It
// must be called before the engine recovers. pages is where the questions are answered.
func newNotices(c Config, e *engine.Engine, state smallstate.Store, pages *baseURL) (n *notices, err error) {
	if c.Webhook.URL == "" {
		return nil, nil
	}
	n = &notices{engine: e, pages: pages, logger: c.Logger, asked: make(chan string, maxAwaitingNotice)}
	n.sender, err = webhook.New(webhook.Config{URL: c.Webhook.URL, Secret: c.Webhook.Secret, State: state, Compose: n.compose, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	e.OnAsk(func(askID string) {
		select {
		case n.asked <- askID:
		default:
			n.logger.Error("too many questions at once for the webhook; this one is told only if it is open when Beam starts again", "ask", askID)
		}
	})
	return n, nil
}

// Notices tell the webhook of questions.
type notices struct {
	engine  *engine.Engine
	pages   *baseURL
	logger  *slog.Logger
	sender  *webhook.Sender
	asked   chan string // the ids of new questions
	ctx     context.Context
	cancel  context.CancelFunc
	telling sync.WaitGroup
}

// start tells the webhook of questions: of new ones, and of those that an earlier process
// didn't come to tell.
func (n *notices) start() {
	if n == nil {
		return
	}
	n.telling.Go(n.tellAsked)
	n.telling.Go(n.tellOpen)
}

// close stops telling.
func (n *notices) close() {
	if n == nil {
		return
	}
	n.cancel()
	n.telling.Wait()
	n.sender.Close()
}

func (n *notices) tellAsked() {
	for {
		select {
		case askID := <-n.asked:
			n.sender.Tell(n.ctx, askID)
		case <-n.ctx.Done():
			return
		}
	}
}

func (n *notices) tellOpen() {
	for askID, err := range n.engine.OpenAskIDs() {
		if err != nil {
			n.logger.Error("telling the webhook of open questions", "err", err)
		}
		if err != nil || n.ctx.Err() != nil {
			return
		}
		if !n.sender.IsTold(n.ctx, askID) {
			n.sender.Tell(n.ctx, askID)
		}
	}
}

// compose returns the notice of a question; nil if it isn't open any more, or can't be answered
// because its run is parked: the next process tells it if the run fits.
func (n *notices) compose(ctx context.Context, askID string) (*webhook.Notice, error) {
	open, err := n.engine.OpenAsk(ctx, callers.Operator(), askID)
	switch {
	case errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound), err == nil && (open.Question == nil || open.Parked != nil):
		return nil, nil
	case err != nil:
		return nil, err
	}
	notice := &webhook.Notice{
		Ask: askID, Run: open.Run, Photon: open.Photon, Title: open.Asker(), Server: open.Question.Server, Tool: open.Question.Tool, Kind: string(open.Question.Kind), Message: open.Question.Message,
		Owner: open.OwnerName, AskedAt: open.Since, Deadline: open.Deadline, Lost: open.Lost,
	}
	if base := n.pages.get(); base != "" {
		notice.URL = links.Base(base).Ask(askID)
	}
	return notice, nil
}

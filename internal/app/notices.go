package app

import (
	"context"
	"errors"
	"sync"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/webhook"
)

// A Webhook is a URL that is told of each question.
type Webhook struct{ URL, Secret string }

// maxAwaitingNotice is how many new questions wait until the webhook's notices of them are
// made.
const maxAwaitingNotice = 10_000

// newNotices returns what tells the webhook of each question, nil if there is no webhook. It
// must be called before the engine recovers.
func (a *App) newNotices(c Config) (*notices, error) {
	if c.Webhook.URL == "" {
		return nil, nil
	}
	sender, err := webhook.New(webhook.Config{URL: c.Webhook.URL, Secret: c.Webhook.Secret, State: a.store.State, Compose: a.composeNotice, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	n := &notices{app: a, sender: sender, asked: make(chan string, maxAwaitingNotice)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	a.engine.OnAsk(func(askID string) {
		select {
		case n.asked <- askID:
		default:
			a.logger.Error("too many questions at once for the webhook; this one is told only if it is open when Beam starts again", "ask", askID)
		}
	})
	return n, nil
}

// Notices tell the webhook of questions.
type notices struct {
	app     *App
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
	for askID, err := range n.app.engine.OpenAskIDs() {
		if err != nil {
			n.app.logger.Error("telling the webhook of open questions", "err", err)
		}
		if err != nil || n.ctx.Err() != nil {
			return
		}
		if !n.sender.IsTold(n.ctx, askID) {
			n.sender.Tell(n.ctx, askID)
		}
	}
}

// composeNotice returns the notice of a question; nil if it isn't open any more.
func (a *App) composeNotice(ctx context.Context, askID string) (*webhook.Notice, error) {
	open, err := a.engine.OpenAsk(ctx, callers.Operator(), askID)
	switch {
	case errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound), err == nil && open.Question == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	n := &webhook.Notice{
		Ask: askID, Run: open.Run, Photon: open.Photon, Title: open.Asker(), Server: open.Question.Server, Tool: open.Question.Tool, Kind: string(open.Question.Kind), Message: open.Question.Message,
		Owner: open.OwnerName, AskedAt: open.Since, Deadline: open.Deadline, Lost: open.Lost,
	}
	if base := a.baseURL.get(); base != "" {
		n.URL = links.Base(base).Ask(askID)
	}
	return n, nil
}

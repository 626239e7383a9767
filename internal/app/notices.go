package app

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/webhook"
)

// A Webhook is a URL that is told of each question.
type Webhook struct{ URL, Secret string }

// toldFile records, in the data folder, which questions the webhook was told of.
const toldFile = "webhook-asks"

// maxAwaitingNotice is how many new questions wait until the webhook's notices of them are
// made.
const maxAwaitingNotice = 10_000

// prepareNotices prepares to tell the webhook of each question that is asked from now on.
// It must be called before the engine recovers, and start, which tells, afterwards.
func (a *App) prepareNotices(c Config) (start func(), err error) {
	if c.Webhook.URL == "" {
		return func() {}, nil
	}
	config := webhook.Config{URL: c.Webhook.URL, Secret: c.Webhook.Secret, IsOpen: a.isAskOpen, Logger: c.Logger}
	if !c.Folder.temporary {
		config.Record = filepath.Join(c.Folder.dir, toldFile)
	}
	sender, err := webhook.New(config)
	if err != nil {
		return nil, err
	}
	asked := make(chan string, maxAwaitingNotice)
	a.engine.OnAsk(func(askID string) {
		select {
		case asked <- askID:
		default:
			a.logger.Error("too many questions at once for the webhook; this one isn't told", "ask", askID)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	a.closeNotices = func() error { cancel(); telling.Wait(); return sender.Close() }
	return func() { telling.Go(func() { a.tellAsked(ctx, sender, asked) }) }, nil
}

func (a *App) tellAsked(ctx context.Context, sender *webhook.Sender, asked <-chan string) {
	for {
		select {
		case askID := <-asked:
			a.tell(ctx, sender, askID)
		case <-ctx.Done():
			return
		}
	}
}

// isAskOpen reports whether a question is open, as far as that is known.
func (a *App) isAskOpen(ctx context.Context, askID string) bool {
	_, err := a.engine.OpenAsk(ctx, callers.Operator(), askID)
	return !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrAskNotFound)
}

// tell tells the webhook of a question, unless that is settled already.
func (a *App) tell(ctx context.Context, sender *webhook.Sender, askID string) {
	open, err := a.engine.OpenAsk(ctx, callers.Operator(), askID)
	if err != nil || open.Question == nil {
		return
	}
	n := webhook.Notice{
		Ask: askID, Run: open.Run, Photon: open.Photon, Title: open.Title, Kind: string(open.Question.Kind), Message: open.Question.Message,
		Owner: open.OwnerName, AskedAt: open.Since, Deadline: open.Deadline,
	}
	if base := a.baseURL.get(); base != "" {
		n.URL = links.Base(base).Ask(askID)
	}
	sender.Tell(n)
}

// A baseURL is the base URL of the pages, once it is known. It may be used from several
// goroutines.
type baseURL struct {
	mu  sync.Mutex
	url string
}

func (b *baseURL) get() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.url
}

func (b *baseURL) set(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url = url
}

// runURL returns the address of a run's page; "" if it isn't known.
func (a *App) runURL(run string) string {
	base := a.baseURL.get()
	if base == "" {
		return ""
	}
	return links.Base(base).Run(run)
}

// SetBaseURL says at which base URL browsers reach the pages.
func (a *App) SetBaseURL(base string) { a.baseURL.set(base) }

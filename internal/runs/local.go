package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"mime"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// Local reaches the runs of an engine in this process for one caller. It is safe for
// concurrent use.
type Local struct {
	Engine *engine.Engine
	Caller generators.Caller
	// Sampling sends questions to models; nil if none are configured.
	Sampling *sampling.Service
}

// Photons returns the photons that the caller may start, in the order of their names.
func (l *Local) Photons(context.Context) ([]Photon, error) {
	var list []Photon
	for _, p := range l.Engine.Photons(l.Caller) {
		d, err := Describe(p)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// Photon returns one of them. The error is [engine.ErrPhotonNotFound].
func (l *Local) Photon(_ context.Context, name string) (Photon, error) {
	p, ok := l.Engine.LookupPhoton(l.Caller, name)
	if !ok {
		return Photon{}, engine.ErrPhotonNotFound
	}
	return Describe(p)
}

// Describe describes a photon of this program.
func Describe(p *generators.Photon) (Photon, error) {
	o := p.Options()
	d := Photon{Name: p.Name(), Title: p.Title(), Description: o.Description, Durable: o.Durable}
	var err error
	d.Annotations, err = json.Marshal(map[string]bool{
		"readOnlyHint": o.ReadOnly, "destructiveHint": o.Destructive, "idempotentHint": o.Idempotent, "openWorldHint": o.OpenWorld,
	})
	if err != nil {
		return d, err
	}
	if d.InputSchema, err = p.Input().MarshalJSON(); err == nil && p.Output() != nil {
		d.OutputSchema, err = p.Output().MarshalJSON()
	}
	return d, err
}

// Start starts a run and returns its id. The errors are those of [engine.Engine.Start].
func (l *Local) Start(ctx context.Context, photon string, args json.RawMessage) (string, error) {
	info, err := l.Engine.Start(ctx, l.Caller, engine.StartRequest{Photon: photon, Args: args, Surface: Surface})
	return info.ID, err
}

// Fork starts a run that goes on from another one; see [engine.Engine.Fork]. A nil until is its last
// entry.
func (l *Local) Fork(ctx context.Context, id string, until *uint64, args json.RawMessage) (string, error) {
	last := uint64(math.MaxUint64)
	if until != nil {
		last = *until
	}
	info, err := l.Engine.Fork(ctx, l.Caller, id, last, args, engine.StartRequest{Surface: Surface})
	return info.ID, err
}

// Result returns the result of a run that has ended with one.
func (l *Local) Result(ctx context.Context, id string) (json.RawMessage, error) {
	end, _, err := l.Engine.Result(ctx, l.Caller, id)
	switch {
	case err != nil:
		return nil, err
	case end.ResultBlob == "":
		return end.Result, nil
	}
	f, err := l.Engine.OpenResult(l.Caller, id, end)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Follow yields a run's entries after an ordinal until it ends; see [engine.Engine.Follow].
func (l *Local) Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	batches, err := l.Engine.Follow(engine.WithPanics(ctx), l.Caller, id, after)
	if err != nil {
		return failed(err)
	}
	return batches
}

func failed(err error) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) { yield(nil, err) }
}

// Answer settles a question; see [engine.Engine.AnswerShown].
func (l *Local) Answer(ctx context.Context, askID string, a Answer) error {
	answer := askdata.Answer{Action: a.Action, Content: a.Content}
	for _, path := range a.Files {
		ref, err := l.upload(ctx, askID, path)
		if err != nil {
			l.discard(askID, answer.Files)
			return err
		}
		answer.Files = append(answer.Files, ref)
	}
	err := l.Engine.AnswerShown(ctx, l.Caller, askID, answer, Surface, cmp.Or(a.Rendered, runlog.RenderedNothing))
	if err != nil {
		l.discard(askID, answer.Files)
	}
	return err
}

func (l *Local) upload(ctx context.Context, askID, path string) (askdata.FileRef, error) {
	f, err := openFile(path)
	if err != nil {
		return askdata.FileRef{}, err
	}
	defer f.Close()
	ref := askdata.FileRef{Name: filepath.Base(path), MediaType: mediaTypeOf(path)}
	ref.Digest, ref.Size, err = l.Engine.Upload(ctx, l.Caller, askID, f)
	return ref, err
}

func (l *Local) discard(askID string, files []askdata.FileRef) {
	run, _, _ := runlog.SplitAskID(askID)
	for _, f := range files {
		l.Engine.DiscardUpload(run, f.Digest, f.Size)
	}
}

// openFile opens a file of an answer. The error is a [*generators.InvalidError] if it can't
// be read, so that another one can be chosen.
func openFile(path string) (io.ReadCloser, error) {
	invalid := func(text string) error {
		return &generators.InvalidError{Fields: []generators.FieldError{driver.At("file", text)}}
	}
	f, err := os.Open(path)
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, invalid("can't be read: " + path + ": " + err.Error())
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, invalid("must be a file: " + path + " is not one")
	}
	return f, nil
}

func mediaTypeOf(path string) string {
	return cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream")
}

// Cancel stops a run; see [engine.Engine.Cancel].
func (l *Local) Cancel(ctx context.Context, id string) error {
	return l.Engine.Cancel(ctx, l.Caller, id, Surface)
}

// maxListed is how many runs and questions lists have, as over HTTP.
const maxListed = 200

// Runs returns the runs, newest first.
func (l *Local) Runs(context.Context) ([]engine.Info, error) {
	return l.Engine.Runs(l.Caller, maxListed, nil)
}

// Run returns a run with its open questions.
func (l *Local) Run(_ context.Context, id string) (engine.Info, error) {
	return l.Engine.Info(l.Caller, id)
}

// Asks returns the open questions, oldest first.
func (l *Local) Asks(context.Context) ([]engine.OpenAsk, error) {
	return l.Engine.Inbox(l.Caller, maxListed)
}

// Ask returns an open question; see [engine.Engine.OpenAsk].
func (l *Local) Ask(ctx context.Context, id string) (engine.OpenAsk, error) {
	return l.Engine.OpenAsk(ctx, l.Caller, id)
}

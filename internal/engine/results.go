package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

const (
	// maxInlineArtifact is the largest body of an artifact, in bytes, that is in the log.
	maxInlineArtifact = 64 << 10
	// maxLoadedResult is the size of the largest result, in bytes, that each reader of a run
	// loads. Readers stream larger ones from the blob store; see [Engine.OpenResult].
	maxLoadedResult = 1 << 20
	// resultPreview is how many bytes of a larger result the log has, for pages.
	resultPreview = 4 << 10
	// resultFile is what a result is called if it is damaged.
	resultFile = "the result"
)

// storeFile stores content that is too large for the log, as soon as that is possible. The error
// is the tool's if its owner's disk is used up.
func (w *worker) storeFile(content []byte) (digest string, err error) {
	err = w.retryTransient(func() error {
		digest, err = w.Files.Store(w.core.ctx, content)
		if exceeded, ok := errors.AsType[*budget.ExceededError](err); ok {
			return &toolError{exceeded.Error()}
		}
		return err
	})
	return digest, err
}

// storeArtifact moves an artifact's body to a file if it is large.
func (w *worker) storeArtifact(a *generators.Artifact) (*generators.Artifact, error) {
	if int64(len(a.Body)) > w.core.limits.MaxArtifactBytes {
		return nil, toolErrorf("the artifact %q has %d bytes, but at most %d are allowed", truncateText(a.Title), len(a.Body), w.core.limits.MaxArtifactBytes)
	}
	stored := *a
	stored.Title, stored.Size = truncateText(a.Title), int64(len(a.Body))
	if len(a.Body) <= maxInlineArtifact {
		return &stored, nil
	}
	var err error
	stored.Digest, err = w.storeFile(a.Body)
	stored.Body = nil
	return &stored, err
}

// addResult adds the value with which the generator has returned to the end of its run. A large
// one is in a file.
func (w *worker) addResult(f *runlog.Finished, value json.RawMessage) (err error) {
	size := int64(len(value))
	if limit := w.core.limits.MaxArtifactBytes; size > limit {
		return toolErrorf("the result has %d bytes, but at most %d are allowed: return less, or yield files", size, limit)
	}
	if size <= maxLoadedResult {
		f.Result = value
		return nil
	}
	f.ResultSize, f.ResultPreview = size, previewOf(value)
	f.ResultBlob, err = w.storeFile(value)
	return err
}

// previewOf returns the beginning of a result, for people: of its text, if it is one.
func previewOf(value json.RawMessage) string {
	if value[0] != '"' {
		return humanize.TruncateBytes(string(value[:2*resultPreview]), resultPreview, " …")
	}
	head := value[:2*resultPreview]
	for end := len(head); end > len(head)-12; end-- { // an escape sequence may have been cut
		var text string
		if json.Unmarshal(append(bytes.Clone(head[:end]), '"'), &text) == nil {
			return humanize.TruncateBytes(text, resultPreview, " …")
		}
	}
	return ""
}

// addContent adds to the end of a run the result that another server gave. A large one is in a
// file.
func (w *worker) addContent(f *runlog.Finished) (err error) {
	content, unkept := w.content.Result()
	if content == nil || f.Status != runlog.Completed && f.Status != runlog.Failed && f.Status != runlog.Unanswered {
		return nil
	}
	content = w.secrets.JSON(content)
	if unkept {
		w.core.unkept.Put(w.id, content, time.Now())
		return nil
	}
	f.ContentSize = int64(len(content))
	if len(content) <= maxInlineArtifact {
		f.Content = content
		return nil
	}
	f.ContentBlob, err = w.storeFile(content)
	return err
}

// OpenArtifact returns the artifact with an ordinal. A large artifact's body is in
// the reader, which the caller must close; for any other the reader is nil and
// the body is in the artifact. The error is [ErrRunNotFound], [ErrForbidden], the
// log's, or a [*runlog.DamagedError].
func (x reader) OpenArtifact(ctx context.Context, caller generators.Caller, id string, seq uint64) (*generators.Artifact, io.ReadSeekCloser, error) {
	if _, err := x.findRun(caller, id); err != nil {
		return nil, nil, err
	}
	entry, err := x.files.LoadEntry(ctx, id, seq)
	if errors.Is(err, runlog.ErrNotFound) || err == nil && entry.Kind != "artifact" {
		err = ErrRunNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	a, err := runlog.Decode[generators.Artifact](entry)
	if err != nil || a.Digest == "" {
		return &a, nil, err
	}
	f, err := x.files.Open(id, a.Digest, fmt.Sprintf("the file %q", a.Title))
	return &a, f, err
}

// OpenResult opens the large result of a run that has ended so, as JSON. The caller closes
// it. The error is [ErrRunNotFound], [ErrForbidden], or a [*runlog.DamagedError].
func (x reader) OpenResult(caller generators.Caller, id string, end *runlog.Finished) (io.ReadSeekCloser, error) {
	if _, err := x.findRun(caller, id); err != nil {
		return nil, err
	}
	return x.files.Open(id, end.ResultBlob, resultFile)
}

// Result returns how a run has ended, and when. The error is [ErrRunNotFound], also if it
// hasn't ended, [ErrForbidden], or the log's.
func (x reader) Result(ctx context.Context, caller generators.Caller, id string) (*runlog.Finished, time.Time, error) {
	info, err := x.Info(caller, id)
	if err != nil {
		return nil, time.Time{}, err
	}
	entry, err := x.files.ReadEntry(ctx, id, info.LastSeq)
	if errors.Is(err, runlog.ErrNotFound) || err == nil && (!info.State.Ended() || entry.Kind != runlog.KindFinished) {
		err = ErrRunNotFound
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	end, err := runlog.Decode[runlog.Finished](entry.WithoutPanic())
	return &end, entry.Time, err
}

// Content returns the result that another server gave to a run that has ended so; nil if
// there is none, or it is no longer kept. The error is [ErrRunNotFound], [ErrForbidden],
// or the file system's.
func (x reader) Content(caller generators.Caller, id string, end *runlog.Finished) (json.RawMessage, error) {
	if _, err := x.findRun(caller, id); err != nil {
		return nil, err
	}
	switch {
	case end.ContentBlob == "" && end.Content == nil:
		return x.unkept.Get(id, time.Now()), nil
	case end.ContentBlob == "":
		return end.Content, nil
	}
	f, err := x.files.Open(id, end.ContentBlob, resultFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

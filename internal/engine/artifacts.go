package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// OpenArtifact returns the artifact with an ordinal. A large artifact's body is in
// the reader, which the caller must close; for any other the reader is nil and
// the body is in the artifact. The error is [ErrRunNotFound], [ErrForbidden], the
// log's, or a [*runlog.DamagedError].
func (e *Engine) OpenArtifact(ctx context.Context, caller generators.Caller, id string, seq uint64) (*generators.Artifact, io.ReadSeekCloser, error) {
	if _, err := e.findRun(caller, id); err != nil {
		return nil, nil, err
	}
	if seq == 0 {
		return nil, nil, ErrRunNotFound
	}
	for batch, err := range e.log.Read(ctx, id, seq-1) {
		if err != nil {
			return nil, nil, err
		}
		if len(batch) > 0 && batch[0].Seq == seq && batch[0].Kind == "artifact" {
			return e.openArtifactEntry(id, batch[0])
		}
		break
	}
	return nil, nil, ErrRunNotFound
}

func (e *Engine) openArtifactEntry(id string, entry runlog.Entry) (*generators.Artifact, io.ReadSeekCloser, error) {
	entry, err := e.loadSpilledData(id, entry)
	if err != nil {
		return nil, nil, err
	}
	a, err := runlog.Decode[generators.Artifact](entry)
	if err != nil {
		return nil, nil, err
	}
	if a.Digest == "" {
		return &a, nil, nil
	}
	f, err := e.openBlob(id, a.Digest, fmt.Sprintf("the file %q", a.Title))
	return &a, f, err
}

// maxInlineArtifact is the largest artifact body, in bytes, that is in the log.
const maxInlineArtifact = 64 << 10

// storeArtifact moves an artifact's body to the blob store if it is large.
func (w *worker) storeArtifact(a *generators.Artifact) (*generators.Artifact, error) {
	if int64(len(a.Body)) > w.engine.limits.MaxArtifactBytes {
		return nil, toolErrorf("the artifact %q has %d bytes, but at most %d are allowed", truncateText(a.Title), len(a.Body), w.engine.limits.MaxArtifactBytes)
	}
	stored := *a
	stored.Title, stored.Size = truncateText(a.Title), int64(len(a.Body))
	if len(a.Body) <= maxInlineArtifact {
		return &stored, nil
	}
	digest, size, err := w.storeBytes(a.Body)
	if err != nil {
		return nil, asToolError(err)
	}
	w.addBlobBytes(size)
	stored.Body, stored.Digest = nil, digest
	return &stored, nil
}

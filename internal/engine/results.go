package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// maxLoadedResult is the size of the largest result, in bytes, that each reader of a run
// loads. Readers stream larger ones from the blob store; see [Engine.OpenResult].
const maxLoadedResult = 1 << 20

// resultPreview is how many bytes of a larger result the log has, for pages.
const resultPreview = 4 << 10

// addResult adds the value with which the generator has returned to the end of its run. A
// large one goes to the blob store. Callers hold mu.
func (w *worker) addResult(f *runlog.Finished, value json.RawMessage) error {
	size := int64(len(value))
	if limit := w.engine.limits.MaxArtifactBytes; size > limit {
		return toolErrorf("the result has %d bytes, but at most %d are allowed: return less, or yield files", size, limit)
	}
	if size <= maxLoadedResult {
		f.Result = value
		return nil
	}
	f.ResultSize, f.ResultPreview = size, previewOf(value)
	return w.retryTransient(func() error {
		digest, _, err := w.storeBytes(value)
		if err == nil {
			w.addBlobBytes(size)
			f.ResultBlob = digest
		}
		return asToolError(err)
	})
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

// OpenResult opens the large result of a run that has ended so, as JSON. The caller closes
// it. The error is [ErrRunNotFound], [ErrForbidden], or a [*runlog.DamagedError].
func (e *Engine) OpenResult(caller generators.Caller, id string, end *runlog.Finished) (io.ReadSeekCloser, error) {
	if _, err := e.findRun(caller, id); err != nil {
		return nil, err
	}
	return e.openBlob(id, end.ResultBlob, resultFile)
}

// Result returns how a run has ended, and when. The error is [ErrRunNotFound], also if it
// hasn't ended, [ErrForbidden], or the log's.
func (e *Engine) Result(ctx context.Context, caller generators.Caller, id string) (*runlog.Finished, time.Time, error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := e.Info(caller, id)
	if err != nil || !info.State.Ended() {
		return nil, time.Time{}, ErrRunNotFound
	}
	for batch, err := range r.readEntries(e.log.Read(ctx, id, info.LastSeq-1), 0, false) {
		if err != nil {
			return nil, time.Time{}, err
		}
		for _, entry := range batch {
			if entry.Kind == runlog.KindFinished {
				end, err := runlog.Decode[runlog.Finished](entry)
				return &end, entry.Time, err
			}
		}
	}
	return nil, time.Time{}, ErrRunNotFound
}

package runs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Follow yields a run's entries after an ordinal until it ends. A connection that breaks is
// made again, without a gap or a repeat.
func (r *Remote) Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for attempt := 0; ; attempt++ {
			before := after
			done, err := r.followOnce(ctx, id, &after, yield)
			if done {
				return
			}
			if after > before {
				attempt = 0
			}
			if err != nil && (attempt >= maxReconnects || !errors.Is(err, errBroken)) || ctx.Err() != nil {
				yield(nil, err)
				return
			}
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case <-time.After(min(time.Duration(attempt+1)*reconnectDelay, 2*time.Second)):
			}
		}
	}
}

const (
	maxReconnects  = 10
	reconnectDelay = 100 * time.Millisecond
	maxLine        = 128 << 20 // of a stream, in bytes: an entry with an artifact
)

// errBroken means that a stream ended before the run did.
var errBroken = errors.New("the connection broke")

// followOnce reads one stream. It reports whether nothing more is to be yielded.
func (r *Remote) followOnce(ctx context.Context, id string, after *uint64, yield func([]runlog.Entry, error) bool) (done bool, err error) {
	resp, err := r.send(ctx, request{method: http.MethodGet, path: "/runs/" + url.PathEscape(id) + "/log?after=" + strconv.FormatUint(*after, 10), notFound: engine.ErrRunNotFound})
	if err != nil {
		if *after > 0 {
			err = fmt.Errorf("%w: %w", errBroken, err)
		}
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return true, nil
	}
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	var batch []runlog.Entry
	for {
		line, err := readLine(lines)
		if err != nil {
			if len(batch) > 0 && !yield(batch, nil) {
				return true, nil
			}
			return false, fmt.Errorf("%w: %w", errBroken, err)
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			var e runlog.Entry
			if err := json.Unmarshal(data, &e); err != nil {
				return false, fmt.Errorf("%s doesn't answer as Beam does: %w", r.name(), err)
			}
			batch, *after = append(batch, e), e.Seq
		}
		if len(batch) == 0 || lines.Buffered() > 0 && len(batch) < runlog.MaxBatchEntries && batch[len(batch)-1].Kind != runlog.KindFinished {
			continue
		}
		if !yield(batch, nil) || batch[len(batch)-1].Kind == runlog.KindFinished {
			return true, nil
		}
		batch = nil
	}
}

// readLine reads a line of any length up to maxLine, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if len(line) > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		case len(line) > maxLine:
			return nil, errors.New("a line of the stream is too long")
		}
	}
}

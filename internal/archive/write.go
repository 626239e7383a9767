package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// Write writes an archive. While it does, no run, key or file may be deleted,
// and runs may go on: the archive holds what was appended up to a moment while
// it was written, and what that names. version is the program's.
func Write(ctx context.Context, w io.Writer, p Parts, version string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	a := &archiver{Parts: p, ctx: ctx, tar: tar.NewWriter(z), sums: newSums(), now: time.Now(), runs: make(map[string]bool)}
	for _, write := range []func() error{
		func() error { return a.json(manifestName, manifest{format, version, a.now.UTC()}) },
		a.session, a.log, a.keys, a.blobs,
		func() error { return a.json(endName, ending{a.had, a.sums.String()}) },
		a.tar.Close, z.Close,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

type archiver struct {
	Parts
	had  counts
	ctx  context.Context
	tar  *tar.Writer
	sums sums
	now  time.Time
	runs map[string]bool // that the log has, and whether they have ended
}

// file writes a file of the archive.
func (a *archiver) file(name string, size int64, r io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return context.Cause(a.ctx)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.now, Format: tar.FormatPAX}
	if err := a.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(a.tar, a.sums.file(name, size)), io.LimitReader(r, size))
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes, and had %d", name, n, size)
	}
	return err
}

func (a *archiver) bytes(name string, content []byte) error {
	return a.file(name, int64(len(content)), bytes.NewReader(content))
}

func (a *archiver) json(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.bytes(name, raw)
}

func (a *archiver) session() error {
	raw, err := os.ReadFile(a.SessionKeys)
	if err != nil {
		return err
	}
	return a.bytes(sessionName, raw)
}

// chunk is how large the log's files become before the next is begun.
const chunk = 4 << 20

func (a *archiver) log() error {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false) // entries stay what they are, byte for byte
	files := 0
	flush := func() error {
		files++
		defer lines.Reset()
		return a.bytes(fmt.Sprintf("log/%08d.jsonl", files), lines.Bytes())
	}
	for s, err := range log.Scan(a.ctx, a.Log) {
		if err == nil {
			err = e.Encode(appended{s.Run, s.Entries})
		}
		if err != nil {
			return err
		}
		a.scanned(s)
		if lines.Len() >= chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return flush()
}

func (a *archiver) scanned(s log.Appended) {
	if _, known := a.runs[s.Run]; !known {
		a.had.Runs++
	}
	a.had.Entries += len(s.Entries)
	a.runs[s.Run] = s.Entries[len(s.Entries)-1].Kind == log.KindFinished
}

// keys writes those of the runs that have not ended: no other secrets can be
// read any more.
func (a *archiver) keys() error {
	entries, err := os.ReadDir(a.Keys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if ended, known := a.runs[e.Name()]; ended || !known {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(a.Keys, e.Name()))
		if err == nil {
			err = a.bytes("keys/"+e.Name(), raw)
		}
		if err != nil {
			return err
		}
		a.had.Keys++
	}
	return nil
}

func (a *archiver) blobs() error {
	for run, err := range a.Blobs.Runs() {
		if err != nil {
			return err
		}
		if _, known := a.runs[run]; !known {
			continue // it began later
		}
		for b, err := range a.Blobs.All(run) {
			if err == nil {
				err = a.blob(run, b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *archiver) blob(run string, b blob.Blob) error {
	f, err := a.Blobs.Open(run, b.Digest)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // an upload that nothing names was taken back
	}
	if err != nil {
		return err
	}
	a.had.Blobs++
	err = a.file("blobs/"+run+"/"+b.Digest, b.Size, f)
	return errors.Join(err, f.Close())
}

package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Write writes a backup. While it runs, no run, key or blob may be deleted, but runs
// may continue: the backup holds the entries appended before some moment during
// the call, and everything that they refer to. Of runs that are damaged, it holds what can be
// read, and says what is missing. version is the program's.
func Write(ctx context.Context, w io.Writer, p Parts, version string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	a := &backupWriter{Parts: p, ctx: ctx, tar: tar.NewWriter(z), checksum: newChecksum(), createdAt: time.Now(), runEnded: make(map[string]bool), missing: make(map[string]string), refs: make(map[blobRef]struct{})}
	for _, write := range []func() error{
		func() error { return a.writeJSON(manifestName, manifest{formatVersion, version, a.createdAt.UTC()}) },
		a.writeSessionKeys, a.writeLog, a.writeKeys, a.writeBlobs,
		func() error { return a.writeJSON(trailerName, trailer{a.written, a.missing, a.checksum.String()}) },
		a.tar.Close, z.Close,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

type backupWriter struct {
	Parts
	written   counts
	ctx       context.Context
	tar       *tar.Writer
	checksum  checksum
	createdAt time.Time
	runEnded  map[string]bool // whether each run has ended
	missing   map[string]string
	refs      map[blobRef]struct{} // that entries refer to, and that aren't written yet
}

// writeFile adds a file to the backup.
func (a *backupWriter) writeFile(name string, size int64, r io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return context.Cause(a.ctx)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.createdAt, Format: tar.FormatPAX}
	if err := a.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(a.tar, a.checksum.startFile(name, size)), io.LimitReader(r, size))
	if err == nil && n != size {
		err = fmt.Errorf("%s changed while it was read: it has %d bytes, and had %d", name, n, size)
	}
	return err
}

func (a *backupWriter) writeBytes(name string, content []byte) error {
	return a.writeFile(name, int64(len(content)), bytes.NewReader(content))
}

func (a *backupWriter) writeJSON(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.writeBytes(name, raw)
}

func (a *backupWriter) writeSessionKeys() error {
	raw, err := a.SessionKeys.Export(a.ctx)
	if err != nil {
		return err
	}
	return a.writeBytes(sessionKeysName, raw)
}

// maxLogFileBytes is the size at which writeLog starts a new file.
const maxLogFileBytes = 4 << 20

func (a *backupWriter) writeLog() error {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false) // keeps the entries' data unchanged
	files := 0
	flush := func() error {
		files++
		defer lines.Reset()
		return a.writeBytes(fmt.Sprintf("log/%08d.jsonl", files), lines.Bytes())
	}
	for s, err := range runlog.Scan(a.ctx, a.Log) {
		if s.Run != "" && errors.Is(err, runlog.ErrCorrupt) {
			a.missing[s.Run] = err.Error()
			continue
		}
		if err == nil {
			err = e.Encode(logLine{s.Run, s.Entries})
		}
		if err != nil {
			return err
		}
		a.countEntries(s)
		if lines.Len() >= maxLogFileBytes {
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

func (a *backupWriter) countEntries(s runlog.AppendedEntries) {
	if _, known := a.runEnded[s.Run]; !known {
		a.written.Runs++
	}
	a.written.Entries += len(s.Entries)
	for _, e := range s.Entries {
		digests, err := e.Blobs()
		if err != nil {
			a.missing[s.Run] = err.Error()
		}
		for _, d := range digests {
			a.refs[blobRef{s.Run, d}] = struct{}{}
		}
	}
	a.runEnded[s.Run] = s.Entries[len(s.Entries)-1].Kind == runlog.KindFinished
}

// writeKeys writes the keys of the runs that have not ended. Those of ended runs
// are deleted.
func (a *backupWriter) writeKeys() error {
	runs, err := a.Keys.Runs()
	if err != nil {
		return err
	}
	for _, run := range runs {
		if ended, known := a.runEnded[run]; ended || !known {
			continue
		}
		key, err := a.Keys.Export(run)
		if err == nil && key != nil {
			a.written.Keys++
			err = a.writeBytes("keys/"+run, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *backupWriter) writeBlobs() error {
	for run, err := range a.Blobs.Runs() {
		if err != nil {
			return err
		}
		if _, known := a.runEnded[run]; !known {
			continue // the run started after writeLog
		}
		for b, err := range a.Blobs.RunBlobs(run) {
			if err == nil {
				err = a.writeBlob(run, b)
			}
			if err != nil {
				return err
			}
		}
	}
	for ref := range a.refs {
		if a.missing[ref.run] == "" {
			a.missing[ref.run] = "the file " + ref.digest + " is missing"
		}
	}
	return nil
}

func (a *backupWriter) writeBlob(run string, b blob.Blob) error {
	err := a.Blobs.Verify(run, b.Digest) // before any of it is written
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil // an upload that no entry refers to was removed
	case errors.Is(err, fs.ErrPermission) || a.ctx.Err() != nil:
		return err
	case err != nil:
		a.missing[run] = fmt.Sprintf("the file %s is damaged: %v", b.Digest, err)
		return nil
	}
	f, err := a.Blobs.Open(run, b.Digest)
	if err != nil {
		return err
	}
	a.written.Blobs++
	delete(a.refs, blobRef{run, b.Digest})
	err = a.writeFile("blobs/"+run+"/"+b.Digest, b.Size, f)
	return errors.Join(err, f.Close(), a.Blobs.Trim(0)) // its copy, if it is elsewhere
}

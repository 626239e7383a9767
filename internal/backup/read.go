package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/photon-beam/beam/internal/runlog"
)

// A target takes what an archive holds, in its order.
type target interface {
	putSessionKeys(raw []byte) error
	// putEntries appends entries to a run after an ordinal.
	putEntries(run string, after uint64, entries []runlog.Entry) error
	putKey(run string, raw []byte) error
	// putBlob must read all of r. It may leave the digest to its caller.
	putBlob(run string, r io.Reader) error
}

// Check reads an archive to its end, and tells whether it is whole.
func Check(ctx context.Context, r io.Reader) (Summary, error) {
	return readBackup(ctx, r, discardTarget{})
}

// readBackup hands an archive to a sink. What it hands on may turn out not to be
// whole: only without an error is it.
func readBackup(ctx context.Context, r io.Reader, to target) (Summary, error) {
	under := &sourceReader{Reader: r}
	z, err := zstd.NewReader(under, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return Summary{}, err
	}
	defer z.Close()
	a := &backupReader{ctx: ctx, target: to, source: under, checksum: newChecksum(), lastSeqs: make(map[string]uint64), missingBlobs: make(map[fileEntry]struct{})}
	t := tar.NewReader(z)
	for !a.trailerRead {
		h, err := t.Next()
		if err == nil {
			err = a.readFile(h, t)
		}
		if err != nil {
			return a.Summary, a.explainError(err)
		}
	}
	return a.Summary, a.explainError(checkNothingFollows(t, z))
}

// checkNothingFollows makes sure that nothing follows the end.
func checkNothingFollows(t *tar.Reader, z io.Reader) error {
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return errors.Join(damagedf("something follows its end"), err)
	}
	rest, err := io.ReadAll(io.LimitReader(z, 1<<20)) // and see that the checksum is right
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damagedf("its end is cut off, or something follows it")
	case err == nil && len(bytes.Trim(rest, "\x00")) > 0: // tar ends with nothing
		return damagedf("something follows its end")
	}
	return err
}

// A fileEntry is one of a run's blobs.
type fileEntry struct{ run, digest string }

type backupReader struct {
	Summary
	target       target
	ctx          context.Context
	source       *sourceReader // what the archive is read from
	targetFailed bool          // the sink could not take something
	checksum     checksum
	manifestRead bool
	section      int // the section
	trailerRead  bool
	lastSeqs     map[string]uint64      // ordinal, by run
	missingBlobs map[fileEntry]struct{} // blobs that entries name
}

// explainError tells what is wrong with an archive that can't be read: whatever comes
// neither from under the archive nor from the sink.
func (a *backupReader) explainError(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrNotBackup):
		return err
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.targetFailed || a.source.err != nil:
		return err
	case !a.manifestRead && (!bytes.Equal(a.source.prefix, zstdMagic) || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.EOF)):
		return ErrNotBackup
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w after %d runs", ErrTruncated, a.Runs)
	}
	return damagedf("%v", err)
}

// noteTargetError notes that an error is the sink's.
func (a *backupReader) noteTargetError(err error) error {
	a.targetFailed = a.targetFailed || err != nil
	return err
}

// zstdMagic is how what zstd has compressed begins (RFC 8878, Zstandard Frames).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// sourceReader remembers how its reader begins, and why it could not be read.
type sourceReader struct {
	io.Reader
	prefix []byte
	err    error
}

func (w *sourceReader) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.prefix = append(w.prefix, p[:min(n, len(zstdMagic)-len(w.prefix))]...)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// readFile takes the next file.
func (a *backupReader) readFile(h *tar.Header, r io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	name, err := a.findSection(h)
	if err != nil {
		return err
	}
	if a.section != sectionTrailer {
		r = io.TeeReader(r, a.checksum.startFile(h.Name, h.Size))
	}
	if a.section == sectionBlobs {
		return a.readBlob(name[1], name[2], r)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch a.section {
	case sectionManifest:
		return a.readManifest(raw)
	case sectionSessionKeys:
		return a.noteTargetError(a.target.putSessionKeys(raw))
	case sectionLog:
		return a.readLog(raw)
	case sectionKeys:
		a.Keys++
		return a.noteTargetError(a.target.putKey(name[1], raw))
	}
	return a.readTrailer(raw)
}

// findSection finds the section that a file belongs to: the one before's, or a later
// one.
func (a *backupReader) findSection(h *tar.Header) (name []string, err error) {
	at, name := a.section, []string(nil)
	for ; at < len(sections) && name == nil; at++ {
		name = sections[at].pattern.FindStringSubmatch(h.Name)
	}
	at-- // where it was found
	switch {
	case !a.manifestRead && (name == nil || at != sectionManifest):
		return nil, ErrNotBackup
	case name == nil, a.manifestRead && at == sectionManifest, at == sectionSessionKeys && a.section == sectionSessionKeys, at > sectionSessionKeys && a.section < sectionSessionKeys:
		return nil, damagedf("%.100q is out of place", h.Name)
	case h.Typeflag != tar.TypeReg:
		return nil, damagedf("%.100q is no file", h.Name)
	case h.Size > sections[at].maxBytes:
		return nil, damagedf("%.100q has %d bytes, and may have %d", h.Name, h.Size, sections[at].maxBytes)
	}
	a.section = at
	return name, nil
}

func (a *backupReader) readManifest(raw []byte) error {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.Format < 1 {
		return ErrNotBackup
	}
	a.manifestRead, a.Version, a.CreatedAt = true, m.Version, m.CreatedAt
	if m.Format > formatVersion {
		return fmt.Errorf("%w: its format is %d, and this version reads %d", ErrNewerFormat, m.Format, formatVersion)
	}
	return nil
}

// readLog takes the lines of a file of the log.
func (a *backupReader) readLog(raw []byte) error {
	for line := range bytes.Lines(raw) {
		var l logLine
		if err := json.Unmarshal(line, &l); err != nil {
			return damagedf("a line of the log can't be read: %v", err)
		}
		if err := a.readLogLine(l); err != nil {
			return err
		}
	}
	return nil
}

func (a *backupReader) readLogLine(l logLine) error {
	last := a.lastSeqs[l.Run]
	if !isRunID(l.Run) || len(l.Entries) == 0 {
		return damagedf("a line of the log is of the run %.40q", l.Run)
	}
	for i, e := range l.Entries {
		switch {
		case e.Seq != last+1+uint64(i):
			return damagedf("run %s has entry %d after %d", l.Run, e.Seq, last+uint64(i))
		case (e.Seq == 1) != (e.Kind == runlog.KindStarted):
			return damagedf("entry %d of run %s is %.20q", e.Seq, l.Run, e.Kind)
		case len(e.Data) > runlog.MaxEntryData || len(e.Data) > 0 && e.Blob != "":
			return damagedf("entry %d of run %s is too large", e.Seq, l.Run)
		case e.Blob != "":
			a.missingBlobs[fileEntry{l.Run, e.Blob}] = struct{}{}
		}
	}
	if last == 0 {
		a.Runs++
	}
	a.Entries += len(l.Entries)
	a.lastSeqs[l.Run] = last + uint64(len(l.Entries))
	return a.noteTargetError(a.target.putEntries(l.Run, last, l.Entries))
}

func isRunID(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// readBlob takes a blob, which has to be what its name says, of a run that is there.
func (a *backupReader) readBlob(run, digest string, r io.Reader) error {
	if a.lastSeqs[run] == 0 {
		return damagedf("a file is of the run %s, which is not in it", run)
	}
	sum, content := sha256.New(), &sourceReader{Reader: r}
	if err := a.target.putBlob(run, io.TeeReader(content, sum)); err != nil {
		a.targetFailed = content.err == nil
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return damagedf("a file of run %s has the checksum %s, and should have %s", run, got, digest)
	}
	delete(a.missingBlobs, fileEntry{run, digest})
	a.Blobs++
	return nil
}

func (a *backupReader) readTrailer(raw []byte) error {
	var e trailer
	switch err := json.Unmarshal(raw, &e); {
	case err != nil:
		return damagedf("its end can't be read")
	case e.Checksum != a.checksum.String(), e.counts != a.counts:
		return damagedf("its checksum is another")
	}
	for f := range a.missingBlobs {
		return damagedf("run %s names a file that is not in it", f.run)
	}
	a.trailerRead = true
	return nil
}

// discardTarget is a sink that only looks.
type discardTarget struct{}

func (discardTarget) putSessionKeys([]byte) error                     { return nil }
func (discardTarget) putEntries(string, uint64, []runlog.Entry) error { return nil }
func (discardTarget) putKey(string, []byte) error                     { return nil }
func (discardTarget) putBlob(_ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

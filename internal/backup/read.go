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

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// A sink receives the contents of a backup, in their order.
type sink interface {
	putSessionKeys(raw []byte) error
	// putEntries appends entries to a run after an ordinal.
	putEntries(run string, after uint64, entries []runlog.Entry) error
	putKey(run string, raw []byte) error
	// putBlob must read all of r. The caller verifies the digest.
	putBlob(run string, r io.Reader) error
}

// Check reads a backup to its end. It returns an error unless the backup is
// complete and undamaged.
func Check(ctx context.Context, r io.Reader) (Summary, error) {
	return readBackup(ctx, r, discardSink{})
}

// readBackup passes the contents of a backup to a sink. If it returns an error, what
// the sink has received may be incomplete or damaged.
func readBackup(ctx context.Context, r io.Reader, sink sink) (Summary, error) {
	source := &sourceReader{Reader: r}
	z, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return Summary{}, err
	}
	defer z.Close()
	a := &backupReader{ctx: ctx, sink: sink, source: source, checksum: newChecksum(), lastSeqs: make(map[string]uint64), missingBlobs: make(map[blobRef]struct{})}
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
	return a.Summary, a.explainError(checkEnd(t, z))
}

// checkEnd returns an error if anything follows the end of the backup.
func checkEnd(t *tar.Reader, z io.Reader) error {
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return errors.Join(damagedf("data follows its end"), err)
	}
	rest, err := io.ReadAll(io.LimitReader(z, 1<<20)) // also makes zstd verify its checksum
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damagedf("its end is cut off, or data follows it")
	case err == nil && len(bytes.Trim(rest, "\x00")) > 0: // tar pads its end with zeros
		return damagedf("data follows its end")
	}
	return err
}

// A fileEntry is one of a run's blobs.
type blobRef struct{ run, digest string }

type backupReader struct {
	Summary
	sink         sink
	ctx          context.Context
	source       *sourceReader // what the backup is read from
	sinkFailed   bool          // the sink returned an error
	checksum     checksum
	manifestRead bool
	section      int // of the last file
	trailerRead  bool
	lastSeqs     map[string]uint64    // last ordinals, by run
	missingBlobs map[blobRef]struct{} // blobs that entries refer to, but that were not read yet
}

// explainError returns errors of the source and of the sink as they are. For all
// others, it returns what is wrong with the backup.
func (a *backupReader) explainError(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrNotBackup):
		return err
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.sinkFailed || a.source.err != nil:
		return err
	case !a.manifestRead && (!bytes.Equal(a.source.prefix, zstdMagic) || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.EOF)):
		return ErrNotBackup
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w after %s", ErrTruncated, humanize.Count(a.Runs, "run"))
	}
	return damagedf("%v", err)
}

// noteSinkError records whether err, which is the sink's, isn't nil.
func (a *backupReader) noteSinkError(err error) error {
	a.sinkFailed = a.sinkFailed || err != nil
	return err
}

// zstdMagic begins data that zstd has compressed (RFC 8878, section 3.1.1).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// sourceReader records the first bytes of its reader, and its error.
type sourceReader struct {
	io.Reader
	prefix []byte
	err    error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.prefix = append(s.prefix, p[:min(n, len(zstdMagic)-len(s.prefix))]...)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// readFile reads the next file of the backup.
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
		return a.noteSinkError(a.sink.putSessionKeys(raw))
	case sectionLog:
		return a.readLog(raw)
	case sectionKeys:
		a.Keys++
		return a.noteSinkError(a.sink.putKey(name[1], raw))
	}
	return a.readTrailer(raw)
}

// findSection sets the section that a file belongs to: that of the previous file or
// a later one. It returns the parts of the file's name.
func (a *backupReader) findSection(h *tar.Header) (name []string, err error) {
	i, name := a.section, []string(nil)
	for ; i < len(sections) && name == nil; i++ {
		name = sections[i].pattern.FindStringSubmatch(h.Name)
	}
	i-- // undo the last increment
	switch {
	case !a.manifestRead && (name == nil || i != sectionManifest):
		return nil, ErrNotBackup
	case name == nil, a.manifestRead && i == sectionManifest, i == sectionSessionKeys && a.section == sectionSessionKeys, i > sectionSessionKeys && a.section < sectionSessionKeys:
		return nil, damagedf("%.100q is out of place", h.Name)
	case h.Typeflag != tar.TypeReg:
		return nil, damagedf("%.100q is not a regular file", h.Name)
	case h.Size > sections[i].maxBytes:
		return nil, damagedf("%.100q has %s; at most %s are allowed", h.Name, humanize.Count(int(h.Size), "byte"), humanize.Thousands(int(sections[i].maxBytes)))
	}
	a.section = i
	return name, nil
}

func (a *backupReader) readManifest(raw []byte) error {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.Format < 1 {
		return ErrNotBackup
	}
	a.manifestRead, a.Version, a.CreatedAt = true, m.Version, m.CreatedAt
	if m.Format > formatVersion {
		return fmt.Errorf("%w: it has format %d; this version reads up to format %d", ErrNewerFormat, m.Format, formatVersion)
	}
	return nil
}

// readLog reads the lines of a file of the log.
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
			a.missingBlobs[blobRef{l.Run, e.Blob}] = struct{}{}
		}
	}
	if last == 0 {
		a.Runs++
	}
	a.Entries += len(l.Entries)
	a.lastSeqs[l.Run] = last + uint64(len(l.Entries))
	return a.noteSinkError(a.sink.putEntries(l.Run, last, l.Entries))
}

func isRunID(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// readBlob reads a blob, which must belong to a run in the log and match its digest.
func (a *backupReader) readBlob(run, digest string, r io.Reader) error {
	if a.lastSeqs[run] == 0 {
		return damagedf("a file belongs to run %s, which is missing", run)
	}
	sum, content := sha256.New(), &sourceReader{Reader: r}
	if err := a.sink.putBlob(run, io.TeeReader(content, sum)); err != nil {
		a.sinkFailed = content.err == nil
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return damagedf("a file of run %s has the checksum %s, want %s", run, got, digest)
	}
	delete(a.missingBlobs, blobRef{run, digest})
	a.Blobs++
	return nil
}

func (a *backupReader) readTrailer(raw []byte) error {
	var end trailer
	switch err := json.Unmarshal(raw, &end); {
	case err != nil:
		return damagedf("its end can't be read")
	case end.Checksum != a.checksum.String(), end.counts != a.counts:
		return damagedf("its checksum is wrong")
	}
	for f := range a.missingBlobs {
		if end.Missing[f.run] == "" {
			return damagedf("a file of run %s is missing", f.run)
		}
	}
	a.trailerRead, a.Missing = true, end.Missing
	return nil
}

// discardSink is a sink that discards everything.
type discardSink struct{}

func (discardSink) putSessionKeys([]byte) error                     { return nil }
func (discardSink) putEntries(string, uint64, []runlog.Entry) error { return nil }
func (discardSink) putKey(string, []byte) error                     { return nil }
func (discardSink) putBlob(_ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

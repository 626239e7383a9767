package archive

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

	"github.com/photon-beam/beam/internal/log"
)

// A sink takes what an archive holds, in its order.
type sink interface {
	session(raw []byte) error
	// entries are appended to a run after an ordinal.
	entries(run string, after uint64, entries []log.Entry) error
	key(run string, raw []byte) error
	// blob must read all of r. It may leave the digest to its caller.
	blob(run string, r io.Reader) error
}

// Check reads an archive to its end, and tells whether it is whole.
func Check(ctx context.Context, r io.Reader) (Summary, error) { return read(ctx, r, nothing{}) }

// read hands an archive to a sink. What it hands on may turn out not to be
// whole: only without an error is it.
func read(ctx context.Context, r io.Reader, to sink) (Summary, error) {
	under := &watched{Reader: r}
	z, err := zstd.NewReader(under, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return Summary{}, err
	}
	defer z.Close()
	a := &reading{ctx: ctx, sink: to, under: under, sums: newSums(), last: make(map[string]uint64), missing: make(map[file]struct{})}
	t := tar.NewReader(z)
	for !a.ended {
		h, err := t.Next()
		if err == nil {
			err = a.next(h, t)
		}
		if err != nil {
			return a.Summary, a.explain(err)
		}
	}
	return a.Summary, a.explain(after(t, z))
}

// after makes sure that nothing follows the end.
func after(t *tar.Reader, z io.Reader) error {
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return errors.Join(damaged("something follows its end"), err)
	}
	rest, err := io.ReadAll(io.LimitReader(z, 1<<20)) // and see that the checksum is right
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("its end is cut off, or something follows it")
	case err == nil && len(bytes.Trim(rest, "\x00")) > 0: // tar ends with nothing
		return damaged("something follows its end")
	}
	return err
}

// A file is one of a run's blobs.
type file struct{ run, digest string }

type reading struct {
	Summary
	sink    sink
	ctx     context.Context
	under   *watched // what the archive is read from
	sunk    bool     // the sink could not take something
	sums    sums
	begun   bool
	at      int // the section
	ended   bool
	last    map[string]uint64 // ordinal, by run
	missing map[file]struct{} // blobs that entries name
}

// explain tells what is wrong with an archive that can't be read: whatever comes
// neither from under the archive nor from the sink.
func (a *reading) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer) || errors.Is(err, ErrForeign):
		return err
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.sunk || a.under.err != nil:
		return err
	case !a.begun && (!bytes.Equal(a.under.head, magic) || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.EOF)):
		return ErrForeign
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w after %d runs", ErrCut, a.Runs)
	}
	return damaged("%v", err)
}

// taken notes that an error is the sink's.
func (a *reading) taken(err error) error {
	a.sunk = a.sunk || err != nil
	return err
}

// magic is how what zstd has compressed begins (RFC 8878, Zstandard Frames).
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// watched remembers how its reader begins, and why it could not be read.
type watched struct {
	io.Reader
	head []byte
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.head = append(w.head, p[:min(n, len(magic)-len(w.head))]...)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// next takes the next file.
func (a *reading) next(h *tar.Header, r io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	name, err := a.enter(h)
	if err != nil {
		return err
	}
	if a.at != inEnd {
		r = io.TeeReader(r, a.sums.file(h.Name, h.Size))
	}
	if a.at == inBlobs {
		return a.blob(name[1], name[2], r)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch a.at {
	case inManifest:
		return a.manifest(raw)
	case inSession:
		return a.taken(a.sink.session(raw))
	case inLog:
		return a.log(raw)
	case inKeys:
		a.Keys++
		return a.taken(a.sink.key(name[1], raw))
	}
	return a.end(raw)
}

// enter finds the section that a file belongs to: the one before's, or a later
// one.
func (a *reading) enter(h *tar.Header) (name []string, err error) {
	at, name := a.at, []string(nil)
	for ; at < len(sections) && name == nil; at++ {
		name = sections[at].name.FindStringSubmatch(h.Name)
	}
	at-- // where it was found
	switch {
	case !a.begun && (name == nil || at != inManifest):
		return nil, ErrForeign
	case name == nil, a.begun && at == inManifest, at == inSession && a.at == inSession, at > inSession && a.at < inSession:
		return nil, damaged("%.100q is out of place", h.Name)
	case h.Typeflag != tar.TypeReg:
		return nil, damaged("%.100q is no file", h.Name)
	case h.Size > sections[at].most:
		return nil, damaged("%.100q has %d bytes, and may have %d", h.Name, h.Size, sections[at].most)
	}
	a.at = at
	return name, nil
}

func (a *reading) manifest(raw []byte) error {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.Format < 1 {
		return ErrForeign
	}
	a.begun, a.Version, a.Made = true, m.Version, m.Made
	if m.Format > format {
		return fmt.Errorf("%w: its format is %d, and this version reads %d", ErrNewer, m.Format, format)
	}
	return nil
}

// log takes the lines of a file of the log.
func (a *reading) log(raw []byte) error {
	for line := range bytes.Lines(raw) {
		var l appended
		if err := json.Unmarshal(line, &l); err != nil {
			return damaged("a line of the log can't be read: %v", err)
		}
		if err := a.append(l); err != nil {
			return err
		}
	}
	return nil
}

func (a *reading) append(l appended) error {
	last := a.last[l.Run]
	if !isID(l.Run) || len(l.Entries) == 0 {
		return damaged("a line of the log is of the run %.40q", l.Run)
	}
	for i, e := range l.Entries {
		switch {
		case e.Seq != last+1+uint64(i):
			return damaged("run %s has entry %d after %d", l.Run, e.Seq, last+uint64(i))
		case (e.Seq == 1) != (e.Kind == log.KindStarted):
			return damaged("entry %d of run %s is %.20q", e.Seq, l.Run, e.Kind)
		case len(e.Data) > log.MaxData || len(e.Data) > 0 && e.Blob != "":
			return damaged("entry %d of run %s is too large", e.Seq, l.Run)
		case e.Blob != "":
			a.missing[file{l.Run, e.Blob}] = struct{}{}
		}
	}
	if last == 0 {
		a.Runs++
	}
	a.Entries += len(l.Entries)
	a.last[l.Run] = last + uint64(len(l.Entries))
	return a.taken(a.sink.entries(l.Run, last, l.Entries))
}

func isID(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// blob takes a blob, which has to be what its name says, of a run that is there.
func (a *reading) blob(run, digest string, r io.Reader) error {
	if a.last[run] == 0 {
		return damaged("a file is of the run %s, which is not in it", run)
	}
	sum, content := sha256.New(), &watched{Reader: r}
	if err := a.sink.blob(run, io.TeeReader(content, sum)); err != nil {
		a.sunk = content.err == nil
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return damaged("a file of run %s has the checksum %s, and should have %s", run, got, digest)
	}
	delete(a.missing, file{run, digest})
	a.Blobs++
	return nil
}

func (a *reading) end(raw []byte) error {
	var e ending
	switch err := json.Unmarshal(raw, &e); {
	case err != nil:
		return damaged("its end can't be read")
	case e.Sum != a.sums.String(), e.counts != a.counts:
		return damaged("its checksum is another")
	}
	for f := range a.missing {
		return damaged("run %s names a file that is not in it", f.run)
	}
	a.ended = true
	return nil
}

// nothing is a sink that only looks.
type nothing struct{}

func (nothing) session([]byte) error                      { return nil }
func (nothing) entries(string, uint64, []log.Entry) error { return nil }
func (nothing) key(string, []byte) error                  { return nil }
func (nothing) blob(_ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

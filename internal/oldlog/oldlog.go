// Package oldlog reads the log of earlier versions of Beam, which an embedded NATS
// server kept in a folder (format 1 and 2), without that server. It changes nothing
// but the folder's format; see [RaiseFormat].
//
// One stream held all runs: each run had a subject, and each append is one message.
package oldlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// Errors of a log, to be tested with [errors.Is].
var (
	// ErrCorrupt means that the files are damaged.
	ErrCorrupt = runlog.ErrCorrupt
	// ErrNewerFormat means that a newer version of Beam wrote the folder.
	ErrNewerFormat = errors.New("the log was written by a newer version of Beam")
)

// A Folder is the log in a folder, of which the messages are located but not held in
// memory. Its methods may be called from several goroutines.
type Folder struct {
	dir      string
	mark     mark
	blocks   []*block
	messages []message // by sequence; once verified, those that Scan yields
	report   Report
}

// A message locates an append in its block.
type message struct {
	seq, first        uint64 // first: ordinal of its first entry; 0 if it can't be decoded
	run               *run
	count             uint32 // of entries
	block, start, end uint32 // block: index in Folder.blocks
}

type run struct {
	id       string
	startSeq uint64 // sequence of the last message that starts the run
	next     uint64 // the ordinal that follows the messages selected; 0 for none
}

// A Report describes what can be read of a log.
type Report struct {
	// Damage is what [Open] refuses the log for: [ErrCorrupt], with the first
	// damaged place. It is nil if the log is intact.
	Damage error
	// Appends is the number of appends that can be read, and Runs the number of runs
	// that they belong to.
	Appends, Runs int
	// Truncated maps runs with missing entries to the first missing ordinal. A run
	// whose last entries are missing can't be recognized.
	Truncated map[string]uint64
	// Headless lists the runs that can't be read, because their first entries are
	// missing.
	Headless []string
	// Returned is how many messages there are too many, at least: of deleted runs that damage
	// has brought back. Which they are is unknown.
	Returned int
	// TornBytes is the size of an incomplete append at the end, which a crash left and
	// nobody was told of.
	TornBytes int64
}

// Summary describes for people how much can be read.
func (r Report) Summary() string {
	text := fmt.Sprintf("%s of %s can be read", humanize.Count(r.Appends, "append"), humanize.Count(r.Runs, "run"))
	if n := len(r.Truncated); n > 0 {
		text += fmt.Sprintf(", %s only in part", humanize.Count(n, "run"))
	}
	if n := len(r.Headless); n > 0 {
		text += fmt.Sprintf("; the beginning of %s is missing", humanize.Count(n, "other run"))
	}
	return text
}

// Open reads and verifies the log in a folder, in which no process may write. The error
// is [ErrNewerFormat], [ErrCorrupt], the file system's, or [fs.ErrNotExist] if the
// folder holds no log.
func Open(dir string) (*Folder, error) {
	f, err := OpenDamaged(dir)
	if err == nil && f.report.Damage != nil {
		return nil, fmt.Errorf("%w; %s", f.report.Damage, f.report.Summary())
	}
	return f, err
}

// OpenDamaged is [Open], but if the log is damaged, it gives access to what can be read:
// of each run the appends up to the first that is missing. The report names the damage.
func OpenDamaged(dir string) (*Folder, error) {
	if err := completeRecovery(dir); err != nil {
		return nil, err
	}
	format, err := readFormat(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, report: Report{Truncated: make(map[string]uint64)}}
	var damage error
	if format.marked {
		if f.mark, damage = readMark(dir); damage != nil && !errors.Is(damage, ErrCorrupt) {
			return nil, damage
		}
	}
	deleted, err := f.readBlocks()
	if err != nil {
		return nil, err
	}
	damage = cmp.Or(damage, f.verifyBlocks())
	f.dropDeleted(deleted, damage != nil)
	damage = cmp.Or(damage, f.verifyCount(deleted))
	f.report.Damage = cmp.Or(damage, f.selectMessages())
	return f, nil
}

// completeRecovery moves a recovered log into place, if the process that recovered it
// ended after moving the damaged one away.
func completeRecovery(dir string) error {
	recovered := dir + ".recovered"
	_, err := os.Stat(dir)
	_, recoveredErr := os.Stat(recovered)
	if !errors.Is(err, fs.ErrNotExist) || recoveredErr != nil {
		return nil
	}
	if err := os.Rename(recovered, dir); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(dir))
}

// readBlocks locates all messages, and finds the sequences of those that are deleted.
func (f *Folder) readBlocks() (deleted []uint64, err error) {
	if f.blocks, err = listBlocks(f.dir); err != nil {
		return nil, err
	}
	runs := make(map[string]*run) // by subject
	var buf []byte
	var entries []runlog.Entry
	for i, b := range f.blocks {
		if buf, err = readFileInto(buf, b.path); err != nil {
			return nil, err
		}
		err = b.scan(buf, func(at int, r record) error {
			switch {
			case r.seq&tombstone != 0:
				deleted = append(deleted, r.seq&^tombstone)
				return nil
			case r.seq == 0 || r.seq&erased != 0:
				return nil
			}
			m := message{seq: r.seq, run: runs[string(r.subject)], block: uint32(i), start: uint32(at), end: uint32(at + r.size)}
			if m.run == nil {
				m.run = &run{id: runOf(string(r.subject))}
				runs[string(r.subject)] = m.run
			}
			id, all, err := decodeMessage(r.body, entries[:0])
			if entries = all; err == nil && id == m.run.id {
				m.first, m.count = all[0].Seq, uint32(len(all))
			}
			if m.first == 1 {
				m.run.startSeq = max(m.run.startSeq, m.seq)
			}
			f.messages = append(f.messages, m)
			if errors.Is(err, ErrNewerFormat) {
				return fmt.Errorf("%s: %w", b.path, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return deleted, nil
}

// Report returns what can be read.
func (f *Folder) Report() Report { return f.report }

// Count returns the number of appends that [Folder.Scan] yields.
func (f *Folder) Count() int { return len(f.messages) }

// Scan yields the appends of all runs that weren't deleted, in the order in which they were made.
// It reads the blocks again.
func (f *Folder) Scan(ctx context.Context) iter.Seq2[runlog.AppendedEntries, error] {
	return func(yield func(runlog.AppendedEntries, error) bool) {
		err := f.scan(ctx, func(a runlog.AppendedEntries) bool { return yield(a, nil) })
		if err != nil {
			yield(runlog.AppendedEntries{}, fmt.Errorf("reading the log: %w", err))
		}
	}
}

func (f *Folder) scan(ctx context.Context, yield func(runlog.AppendedEntries) bool) (err error) {
	var buf []byte
	for rest := f.messages; len(rest) > 0; {
		b, n := f.blocks[rest[0].block], 1
		for n < len(rest) && rest[n].block == rest[0].block {
			n++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if buf, err = readFileInto(buf, b.path); err != nil {
			return err
		}
		sum := b.newChecksum()
		for _, m := range rest[:n] {
			r, ok := record{}, false
			if int64(m.end) <= int64(len(buf)) {
				r, ok = readRecord(buf[m.start:m.end], sum)
			}
			if !ok {
				return fmt.Errorf("%w: %s has changed since the log was opened", ErrCorrupt, b.path)
			}
			id, entries, err := decodeMessage(slices.Clone(r.body), make([]runlog.Entry, 0, m.count))
			if err != nil {
				return err
			}
			if !yield(runlog.AppendedEntries{Run: id, Entries: entries}) {
				return nil
			}
		}
		rest = rest[n:]
	}
	return nil
}

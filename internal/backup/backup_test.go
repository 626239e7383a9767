package backup_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// sessionKeys are any text.
type sessionKeys string

func (k *sessionKeys) Export(context.Context) ([]byte, error) { return []byte(*k), nil }
func (k *sessionKeys) Import(_ context.Context, raw []byte) error {
	*k = sessionKeys(raw)
	return nil
}

// keys are any texts, by run.
type keys map[string]string

func (k keys) Runs() ([]string, error)             { return slices.Collect(maps.Keys(k)), nil }
func (k keys) Export(run string) ([]byte, error)   { return []byte(k[run]), nil }
func (k keys) Import(run string, key []byte) error { k[run] = string(key); return nil }

// newParts returns empty parts.
func newParts(t testing.TB) backup.Parts {
	t.Helper()
	dir := t.TempDir()
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return backup.Parts{Log: runlog.NewMemory(), Blobs: blobs, Keys: make(keys), SessionKeys: new(sessionKeys)}
}

const (
	waitingRunID = "0123456789abcdef0123456789abcdef"
	endedRunID   = "fedcba9876543210fedcba9876543210"
)

// newFilledParts returns parts with a run that waits and one that has ended.
func newFilledParts(t testing.TB) backup.Parts {
	t.Helper()
	p := newParts(t)
	p.SessionKeys = new(sessionKeys(`{"id":"x"}`))
	p.Keys = keys{waitingRunID: "a key", endedRunID: "a key that is about to be deleted"}
	digest, _, err := p.Blobs.Put(t.Context(), waitingRunID, strings.NewReader(strings.Repeat("large ", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Blobs.Put(t.Context(), "abc", strings.NewReader("of a run that began later")); err != nil {
		t.Fatal(err)
	}
	add := func(run string, after uint64, entries ...runlog.Entry) {
		t.Helper()
		if _, err := p.Log.Append(t.Context(), run, after, entries...); err != nil {
			t.Fatal(err)
		}
	}
	add(waitingRunID, 0, runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Args: json.RawMessage(`{"a":"<&>"}`)}), runlog.Entry{Kind: "artifact", Blob: digest})
	add(endedRunID, 0, runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "q"}))
	add(waitingRunID, 2, runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k"}))
	add(endedRunID, 1, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed}))
	return p
}

func newBackup(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := backup.Write(t.Context(), &b, newFilledParts(t), "v1"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readEntries(t *testing.T, l runlog.Log, run string) (all []runlog.Entry) {
	t.Helper()
	for batch, err := range l.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
	return all
}

func TestRestoreReturnsWhatWasBackedUp(t *testing.T) {
	from, to := newFilledParts(t), newParts(t)
	var b bytes.Buffer
	if err := backup.Write(t.Context(), &b, from, "v1"); err != nil {
		t.Fatal(err)
	}
	sum, err := backup.Restore(t.Context(), &b, to)
	if err != nil || sum.Runs != 2 || sum.Entries != 5 || sum.Keys != 1 || sum.Blobs != 1 || sum.Version != "v1" {
		t.Fatalf("%+v, %v", sum, err)
	}
	for _, run := range []string{waitingRunID, endedRunID} {
		was, is := readEntries(t, from.Log, run), readEntries(t, to.Log, run)
		same := slices.EqualFunc(was, is, func(a, b runlog.Entry) bool {
			return a.Seq == b.Seq && a.Time.Equal(b.Time) && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data) && a.Blob == b.Blob
		})
		if !same {
			t.Errorf("run %s was\n%v and is\n%v", run, was, is)
		}
	}
	if keys, _ := to.SessionKeys.Export(t.Context()); string(keys) != `{"id":"x"}` {
		t.Errorf("the session keys are %s", keys)
	}
	if got := to.Keys.(keys); !maps.Equal(got, keys{waitingRunID: "a key"}) {
		t.Errorf("the keys are %v", got)
	}
	f, err := to.Blobs.Open(waitingRunID, readEntries(t, from.Log, waitingRunID)[1].Blob)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(f); len(got) != 6000 {
		t.Errorf("the file has %d bytes", len(got))
	}
	f.Close()
}

// A backup that was cut off or changed anywhere is refused.
func TestDamage(t *testing.T) {
	whole := newBackup(t)
	if _, err := backup.Check(t.Context(), bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	known := func(err error) bool {
		return errors.Is(err, backup.ErrTruncated) || errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrNotBackup) || errors.Is(err, backup.ErrNewerFormat)
	}
	for n := range whole {
		if _, err := backup.Check(t.Context(), bytes.NewReader(whole[:n])); !known(err) {
			t.Fatalf("cut off after %d of %d bytes: %v", n, len(whole), err)
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 1 << (n % 8)
		if _, err := backup.Check(t.Context(), bytes.NewReader(bad)); !known(err) && !bytes.Equal(decompress(bad), decompress(whole)) {
			t.Fatalf("with another byte %d of %d: %v", n, len(whole), err)
		}
	}
	for name, after := range map[string][]byte{"a byte": {'x'}, "a text": []byte("and more"), "another": whole} {
		if _, err := backup.Check(t.Context(), bytes.NewReader(slices.Concat(whole, after))); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("with %s after it: %v", name, err)
		}
	}
}

// decompress returns the decompressed data. One bit of the input is unused.
func decompress(raw []byte) []byte {
	z, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	defer z.Close()
	all, _ := io.ReadAll(z)
	return all
}

// A tarFile is a file of a hostile backup.
type tarFile struct {
	name, content string
	kind          byte
}

func packBackup(t testing.TB, files ...tarFile) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Size: int64(len(f.content))}
		if f.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = f.kind, "/etc/passwd", 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if f.kind == 0 {
			io.WriteString(w, f.content)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostileBackups(t *testing.T) {
	begin := tarFile{name: "beam-backup.json", content: `{"format":1}`}
	keys := tarFile{name: "session-keys.json", content: "{}"}
	line := func(text string) tarFile { return tarFile{name: "log/00000001.jsonl", content: text + "\n"} }
	started := `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started","data":{}}`
	digest := strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		files []tarFile
		want  string
	}{
		"nothing":             {nil, "not a Beam backup"},
		"something else":      {[]tarFile{{name: "README", content: "hello"}}, "not a Beam backup"},
		"no manifest":         {[]tarFile{keys}, "not a Beam backup"},
		"a newer one":         {[]tarFile{{name: "beam-backup.json", content: `{"format":2}`}}, "newer version of Beam: it has format 2; this version reads up to format 1"},
		"no keys":             {[]tarFile{begin, line("")}, "out of place"},
		"two manifests":       {[]tarFile{begin, begin}, "out of place"},
		"keys twice":          {[]tarFile{begin, keys, keys}, "out of place"},
		"a path upwards":      {[]tarFile{begin, keys, {name: "../../evil", content: "x"}}, `"../../evil" is out of place`},
		"upwards by a run":    {[]tarFile{begin, keys, {name: "keys/../../evil", content: "x"}}, "out of place"},
		"an absolute path":    {[]tarFile{begin, keys, {name: "/etc/passwd", content: "x"}}, "out of place"},
		"a link":              {[]tarFile{begin, keys, {name: "keys/abc", kind: tar.TypeSymlink}}, "is not a regular file"},
		"a device":            {[]tarFile{begin, keys, {name: "keys/abc", kind: tar.TypeChar}}, "is not a regular file"},
		"a large key":         {[]tarFile{begin, keys, {name: "keys/abc", content: strings.Repeat("x", 5000)}}, "5,000 bytes; at most 4,096"},
		"the log after keys":  {[]tarFile{begin, keys, {name: "keys/abc", content: "x"}, line("")}, "out of place"},
		"no line":             {[]tarFile{begin, keys, line("what?")}, "a line of the log can't be read"},
		"a run upwards":       {[]tarFile{begin, keys, line(`{"run":"../x","entries":[` + started + `]}`)}, "of the run"},
		"no entries":          {[]tarFile{begin, keys, line(`{"run":"ab","entries":[]}`)}, "of the run"},
		"a gap":               {[]tarFile{begin, keys, line(`{"run":"ab","entries":[{"seq":2,"kind":"status"}]}`)}, "has entry 2 after 0"},
		"no start":            {[]tarFile{begin, keys, line(`{"run":"ab","entries":[{"seq":1,"kind":"status"}]}`)}, "entry 1 of run ab"},
		"a file of no run":    {[]tarFile{begin, keys, {name: "blobs/ab/" + digest, content: "x"}}, "run ab, which is missing"},
		"another file":        {[]tarFile{begin, keys, line(`{"run":"ab","entries":[` + started + `]}`), {name: "blobs/ab/" + digest, content: "x"}}, "has the checksum"},
		"no end":              {[]tarFile{begin, keys, line(`{"run":"ab","entries":[` + started + `]}`)}, "cut off after 1 run"},
		"an end of something": {[]tarFile{begin, keys, {name: "end.json", content: `{"runs":1,"sha256":"x"}`}}, "checksum is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := backup.Restore(t.Context(), bytes.NewReader(packBackup(t, c.files...)), newParts(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

// fullLog is a log on a full disk.
type fullLog struct{ runlog.Log }

func (fullLog) Append(context.Context, string, uint64, ...runlog.Entry) (uint64, error) {
	return 0, fmt.Errorf("appending: %w", runlog.ErrDiskFull)
}

// brokenReader fails at the end of its data.
type brokenReader struct{ io.Reader }

var errDisk = errors.New("the disk is broken")

func (b brokenReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// Errors of the source or the target are not reported as a damaged backup.
func TestSourceAndTargetErrors(t *testing.T) {
	whole := newBackup(t)
	to := newParts(t)
	to.Log = fullLog{to.Log}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(whole), to); !errors.Is(err, runlog.ErrDiskFull) || errors.Is(err, backup.ErrDamaged) {
		t.Errorf("on a full disk, the error is %v", err)
	}
	if _, err := backup.Check(t.Context(), brokenReader{bytes.NewReader(whole[:len(whole)/2])}); !errors.Is(err, errDisk) || errors.Is(err, backup.ErrTruncated) {
		t.Errorf("reading a broken file, the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backup.Check(ctx, bytes.NewReader(whole)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted, the error is %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(newBackup(f))
	f.Add(packBackup(f, tarFile{name: "beam-backup.json", content: `{"format":1}`}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if sum, err := backup.Check(t.Context(), bytes.NewReader(raw)); err == nil && sum.CreatedAt.IsZero() {
			t.Errorf("%+v is taken for a backup", sum)
		}
	})
}

// A damaged file costs its run: the backup has everything else, and says what it lacks.
func TestDamagedFile(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"changed": func(path string) error { return os.WriteFile(path, []byte("something else"), 0o600) },
		"gone":    os.Remove,
	} {
		from, to := newFilledParts(t), newParts(t)
		digest := readEntries(t, from.Log, waitingRunID)[1].Blob
		f, err := from.Blobs.Open(waitingRunID, digest)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := damage(f.(*os.File).Name()); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := backup.Write(t.Context(), &b, from, "v1"); err != nil {
			t.Fatal(err)
		}
		sum, err := backup.Restore(t.Context(), &b, to)
		if err != nil || sum.Runs != 2 || sum.Entries != 5 || sum.Blobs != 0 || len(sum.Missing) != 1 || !strings.Contains(sum.Missing[waitingRunID], digest) {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
	}
}

// damagedLog is a log of which one run can't be read after its first entry.
type damagedLog struct{ runlog.Log }

func (l damagedLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range l.Log.Read(ctx, run, after) {
			if run == waitingRunID {
				if yield(batch[:1], err) {
					yield(nil, runlog.ErrCorrupt)
				}
				return
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// So does a run whose entries can't be read.
func TestDamagedRun(t *testing.T) {
	from, to := newFilledParts(t), newParts(t)
	from.Log = damagedLog{from.Log}
	var b bytes.Buffer
	if err := backup.Write(t.Context(), &b, from, "v1"); err != nil {
		t.Fatal(err)
	}
	sum, err := backup.Restore(t.Context(), &b, to)
	if err != nil || sum.Runs != 2 || sum.Missing[waitingRunID] == "" || len(sum.Missing) != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := readEntries(t, to.Log, waitingRunID); len(got) != 1 {
		t.Errorf("the run has %d entries", len(got))
	}
}

package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/photon-beam/beam/internal/archive"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// parts are new and hold nothing.
func parts(t testing.TB) archive.Parts {
	t.Helper()
	dir := t.TempDir()
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return archive.Parts{Log: log.NewMemory(), Blobs: blobs, Keys: filepath.Join(dir, "keys"), SessionKeys: filepath.Join(dir, "session-keys.json")}
}

const (
	waiting = "0123456789abcdef0123456789abcdef"
	ended   = "fedcba9876543210fedcba9876543210"
)

// filled are parts with a run that waits and one that has ended.
func filled(t testing.TB) archive.Parts {
	t.Helper()
	p := parts(t)
	write(t, p.SessionKeys, `{"id":"x"}`)
	if err := os.Mkdir(p.Keys, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Keys, waiting), "a key")
	write(t, filepath.Join(p.Keys, ended), "a key that is about to go")
	digest, _, err := p.Blobs.Put(t.Context(), waiting, strings.NewReader(strings.Repeat("large ", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Blobs.Put(t.Context(), "abc", strings.NewReader("of a run that began later")); err != nil {
		t.Fatal(err)
	}
	add := func(run string, after uint64, entries ...log.Entry) {
		t.Helper()
		if _, err := p.Log.Append(t.Context(), run, after, entries...); err != nil {
			t.Fatal(err)
		}
	}
	add(waiting, 0, log.New(log.KindStarted, log.Started{Photon: "p", Args: json.RawMessage(`{"a":"<&>"}`)}), log.Entry{Kind: "artifact", Blob: digest})
	add(ended, 0, log.New(log.KindStarted, log.Started{Photon: "q"}))
	add(waiting, 2, log.New(log.KindAsked, log.Asked{Key: "k"}))
	add(ended, 1, log.New(log.KindFinished, log.Finished{Status: log.Completed}))
	return p
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func archived(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(t.Context(), &b, filled(t), "v1"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func entries(t *testing.T, l log.Log, run string) (all []log.Entry) {
	t.Helper()
	for batch, err := range l.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
	return all
}

func TestWhatIsRestoredIsWhatWasThere(t *testing.T) {
	from, to := filled(t), parts(t)
	var b bytes.Buffer
	if err := archive.Write(t.Context(), &b, from, "v1"); err != nil {
		t.Fatal(err)
	}
	sum, err := archive.Restore(t.Context(), &b, to)
	if err != nil || sum.Runs != 2 || sum.Entries != 5 || sum.Keys != 1 || sum.Blobs != 1 || sum.Version != "v1" {
		t.Fatalf("%+v, %v", sum, err)
	}
	for _, run := range []string{waiting, ended} {
		was, is := entries(t, from.Log, run), entries(t, to.Log, run)
		same := slices.EqualFunc(was, is, func(a, b log.Entry) bool {
			return a.Seq == b.Seq && a.Time.Equal(b.Time) && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data) && a.Blob == b.Blob
		})
		if !same {
			t.Errorf("run %s was\n%v and is\n%v", run, was, is)
		}
	}
	for name, want := range map[string]string{to.SessionKeys: `{"id":"x"}`, filepath.Join(to.Keys, waiting): "a key"} {
		if got, err := os.ReadFile(name); string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(to.Keys, ended)); err == nil {
		t.Error("the key of a run that has ended is there again")
	}
	f, err := to.Blobs.Open(waiting, entries(t, from.Log, waiting)[1].Blob)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(f); len(got) != 6000 {
		t.Errorf("the file has %d bytes", len(got))
	}
	f.Close()
}

// Wherever an archive is cut off or changed, it is not taken for whole.
func TestDamage(t *testing.T) {
	whole := archived(t)
	if _, err := archive.Check(t.Context(), bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	known := func(err error) bool {
		return errors.Is(err, archive.ErrCut) || errors.Is(err, archive.ErrDamaged) || errors.Is(err, archive.ErrForeign) || errors.Is(err, archive.ErrNewer)
	}
	for n := range whole {
		if _, err := archive.Check(t.Context(), bytes.NewReader(whole[:n])); !known(err) {
			t.Fatalf("cut off after %d of %d bytes: %v", n, len(whole), err)
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 1 << (n % 8)
		if _, err := archive.Check(t.Context(), bytes.NewReader(bad)); !known(err) && !bytes.Equal(unpacked(bad), unpacked(whole)) {
			t.Fatalf("with another byte %d of %d: %v", n, len(whole), err)
		}
	}
	for name, after := range map[string][]byte{"a byte": {'x'}, "a text": []byte("and more"), "another": whole} {
		if _, err := archive.Check(t.Context(), bytes.NewReader(slices.Concat(whole, after))); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("with %s after it: %v", name, err)
		}
	}
}

// unpacked is what is compressed; one bit of it is not used.
func unpacked(raw []byte) []byte {
	z, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	defer z.Close()
	all, _ := io.ReadAll(z)
	return all
}

// A file is one of a hostile archive's.
type file struct {
	name, content string
	kind          byte
}

func pack(t testing.TB, files ...file) []byte {
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

func TestHostileArchives(t *testing.T) {
	begin := file{name: "beam-backup.json", content: `{"format":1}`}
	keys := file{name: "session-keys.json", content: "{}"}
	line := func(text string) file { return file{name: "log/00000001.jsonl", content: text + "\n"} }
	started := `{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"started","data":{}}`
	digest := strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		files []file
		want  string
	}{
		"nothing":             {nil, "no backup of Beam's"},
		"something else":      {[]file{{name: "README", content: "hello"}}, "no backup of Beam's"},
		"no manifest":         {[]file{keys}, "no backup of Beam's"},
		"a newer one":         {[]file{{name: "beam-backup.json", content: `{"format":2}`}}, "newer version of Beam: its format is 2, and this version reads 1"},
		"no keys":             {[]file{begin, line("")}, "out of place"},
		"two manifests":       {[]file{begin, begin}, "out of place"},
		"keys twice":          {[]file{begin, keys, keys}, "out of place"},
		"a path upwards":      {[]file{begin, keys, {name: "../../evil", content: "x"}}, `"../../evil" is out of place`},
		"upwards by a run":    {[]file{begin, keys, {name: "keys/../../evil", content: "x"}}, "out of place"},
		"an absolute path":    {[]file{begin, keys, {name: "/etc/passwd", content: "x"}}, "out of place"},
		"a link":              {[]file{begin, keys, {name: "keys/abc", kind: tar.TypeSymlink}}, "is no file"},
		"a device":            {[]file{begin, keys, {name: "keys/abc", kind: tar.TypeChar}}, "is no file"},
		"a large key":         {[]file{begin, keys, {name: "keys/abc", content: strings.Repeat("x", 5000)}}, "may have 4096"},
		"the log after keys":  {[]file{begin, keys, {name: "keys/abc", content: "x"}, line("")}, "out of place"},
		"no line":             {[]file{begin, keys, line("what?")}, "a line of the log can't be read"},
		"a run upwards":       {[]file{begin, keys, line(`{"run":"../x","entries":[` + started + `]}`)}, "of the run"},
		"no entries":          {[]file{begin, keys, line(`{"run":"ab","entries":[]}`)}, "of the run"},
		"a gap":               {[]file{begin, keys, line(`{"run":"ab","entries":[{"seq":2,"kind":"status"}]}`)}, "has entry 2 after 0"},
		"no start":            {[]file{begin, keys, line(`{"run":"ab","entries":[{"seq":1,"kind":"status"}]}`)}, "entry 1 of run ab"},
		"a file of no run":    {[]file{begin, keys, {name: "blobs/ab/" + digest, content: "x"}}, "which is not in it"},
		"another file":        {[]file{begin, keys, line(`{"run":"ab","entries":[` + started + `]}`), {name: "blobs/ab/" + digest, content: "x"}}, "has the checksum"},
		"no end":              {[]file{begin, keys, line(`{"run":"ab","entries":[` + started + `]}`)}, "cut off after 1 run"},
		"an end of something": {[]file{begin, keys, {name: "end.json", content: `{"runs":1,"sha256":"x"}`}}, "checksum is another"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := archive.Restore(t.Context(), bytes.NewReader(pack(t, c.files...)), parts(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %s", err, c.want)
			}
		})
	}
}

// full is a log without room.
type full struct{ log.Log }

func (full) Append(context.Context, string, uint64, ...log.Entry) (uint64, error) {
	return 0, fmt.Errorf("log: %w", log.ErrFull)
}

// broken is a file that can't be read any further.
type broken struct{ io.Reader }

var errDisk = errors.New("the disk is broken")

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// What is wrong with the folder or the file is not said of the archive.
func TestOthersFaults(t *testing.T) {
	whole := archived(t)
	to := parts(t)
	to.Log = full{to.Log}
	if _, err := archive.Restore(t.Context(), bytes.NewReader(whole), to); !errors.Is(err, log.ErrFull) || errors.Is(err, archive.ErrDamaged) {
		t.Errorf("without room, it says %v", err)
	}
	if _, err := archive.Check(t.Context(), broken{bytes.NewReader(whole[:len(whole)/2])}); !errors.Is(err, errDisk) || errors.Is(err, archive.ErrCut) {
		t.Errorf("of a broken disk, it says %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := archive.Check(ctx, bytes.NewReader(whole)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted, it says %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(archived(f))
	f.Add(pack(f, file{name: "beam-backup.json", content: `{"format":1}`}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if sum, err := archive.Check(t.Context(), bytes.NewReader(raw)); err == nil && sum.Made.IsZero() {
			t.Errorf("%+v is taken for a backup", sum)
		}
	})
}

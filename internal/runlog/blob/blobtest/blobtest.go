// Package blobtest tests stores of blobs.
package blobtest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/photon-beam/beam/internal/runlog/blob"
)

const testRunID = "7f3c"

// RunSuite tests stores, with blobs in a folder only or shared. open returns an empty one.
func RunSuite(t *testing.T, open func(t *testing.T) *blob.Store) {
	for name, test := range map[string]func(*testing.T, *blob.Store){
		"PutAndOpen":             testPutAndOpen,
		"BlobsBelongToTheirRun":  testBlobsBelongToTheirRun,
		"NamesCannotEscape":      testNamesCannotEscape,
		"FailedPutLeavesNothing": testFailedPut,
		"Messages":               testMessages,
		"Sizes":                  testSizes,
		"Missing":                testMissing,
		"PutAtOnce":              testPutAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// MustPut stores a blob.
func MustPut(t *testing.T, s *blob.Store, run, text string) (digest string) {
	t.Helper()
	digest, size, err := s.Put(t.Context(), run, strings.NewReader(text))
	if err != nil || size != int64(len(text)) {
		t.Fatal(size, err)
	}
	return digest
}

func testPutAndOpen(t *testing.T, s *blob.Store) {
	digest := MustPut(t, s, testRunID, "content")
	if want := "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"; digest != want {
		t.Errorf("digest %s, want the SHA-256 %s", digest, want)
	}
	for range 2 {
		r, err := s.Open(testRunID, digest)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); string(text) != "content" || err != nil {
			t.Errorf("read %q, %v", text, err)
		}
		r.Close()
	}
	if again := MustPut(t, s, testRunID, "content"); again != digest {
		t.Error("the same content has another digest")
	}
}

func testBlobsBelongToTheirRun(t *testing.T, s *blob.Store) {
	digest := MustPut(t, s, testRunID, "content")
	if _, err := s.Open("8888", digest); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("opening another run's blob: %v", err)
	}
	MustPut(t, s, "8888", "content")
	if err := s.DeleteRun(testRunID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(testRunID, digest); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("opening a deleted blob: %v", err)
	}
	r, err := s.Open("8888", digest)
	if err != nil {
		t.Fatalf("opening the other run's blob: %v", err)
	}
	r.Close()
	if err := s.Remove("8888", digest); err != nil {
		t.Error(err)
	}
	if has, err := s.Has("8888", digest); has || err != nil {
		t.Error("a removed blob is there", err)
	}
	if err := s.Remove("8888", digest); err != nil {
		t.Errorf("removing a blob that doesn't exist: %v", err)
	}
}

func testNamesCannotEscape(t *testing.T, s *blob.Store) {
	for _, name := range []string{"", "..", "../outside", "/etc/passwd", "a/b", "A", "7f3c\x00", "messages"} {
		if _, err := s.Open(testRunID, name); err == nil {
			t.Errorf("opened %q", name)
		}
		if _, err := s.Open(name, "aa"); err == nil {
			t.Errorf("opened in %q", name)
		}
		if _, _, err := s.Put(t.Context(), name, strings.NewReader("x")); err == nil {
			t.Errorf("put into %q", name)
		}
		if err := s.DeleteRun(name); err == nil {
			t.Errorf("deleted %q", name)
		}
	}
}

func testFailedPut(t *testing.T, s *blob.Store) {
	if _, _, err := s.Put(t.Context(), testRunID, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Put returned %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Put(ctx, testRunID, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context, Put returned %v", err)
	}
	for b, err := range s.RunBlobs(testRunID) {
		t.Errorf("there is %v, %v", b, err)
	}
}

func testMessages(t *testing.T, s *blob.Store) {
	check := func(want string) {
		t.Helper()
		if lines, err := s.ReadMessages(testRunID); string(lines) != want || err != nil {
			t.Errorf("the messages are %q, %v; want %q", lines, err, want)
		}
	}
	check("")
	if err := s.AppendMessages(testRunID, []byte("x")); err == nil {
		t.Error("appended to what was not written")
	}
	for _, err := range []error{
		s.WriteMessages(testRunID, []byte("old\n")), s.AppendMessages(testRunID, []byte("old\n")), s.WriteMessages(testRunID, []byte("1\n")),
		s.AppendMessages(testRunID, []byte("2\n")), s.AppendMessages(testRunID, []byte("3\n")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	check("1\n2\n3\n")
	for b, err := range s.RunBlobs(testRunID) {
		t.Errorf("messages are a blob: %v, %v", b, err)
	}
	if err := s.DeleteRun(testRunID); err != nil {
		t.Error(err)
	}
	check("")
}

func testSizes(t *testing.T, s *blob.Store) {
	var want []blob.Blob
	total := int64(0)
	for _, size := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1 << 20} {
		text := strings.Repeat("x", size)
		digest := MustPut(t, s, testRunID, text)
		if got, err := s.Load(testRunID, digest); string(got) != text || err != nil {
			t.Errorf("of %d bytes, %d were read, %v", size, len(got), err)
		}
		if err := s.Verify(testRunID, digest); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		want = append(want, blob.Blob{Digest: digest, Size: int64(size)})
		total += int64(size)
	}
	var got []blob.Blob
	for b, err := range s.RunBlobs(testRunID) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	slices.SortFunc(got, func(a, b blob.Blob) int { return int(a.Size - b.Size) })
	if !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	if n, err := s.RunSize(testRunID); n != total || err != nil {
		t.Errorf("RunSize returns %d, %v; want %d", n, err, total)
	}
}

func testMissing(t *testing.T, s *blob.Store) {
	missing := blob.Digest(nil)
	told := errors.New("told")
	if _, err := s.OpenVerified(testRunID, missing, func(reason error) error { return errors.Join(told, reason) }); !errors.Is(err, told) || !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("OpenVerified returns %v", err)
	}
	if _, err := s.Load(testRunID, missing); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Load returns %v", err)
	}
	if has, err := s.Has(testRunID, missing); has || err != nil {
		t.Errorf("Has returns %v, %v", has, err)
	}
}

func testPutAtOnce(t *testing.T, s *blob.Store) {
	text := strings.Repeat("text", 200<<10)
	errs := make(chan error)
	for range 6 {
		go func() {
			digest, _, err := s.Put(t.Context(), testRunID, strings.NewReader(text))
			if err == nil {
				err = s.Verify(testRunID, digest)
			}
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

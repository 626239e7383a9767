package ask_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

func TestFileRules(t *testing.T) {
	file := func(name, mediaType string, size int64) askdata.FileRef {
		return askdata.FileRef{Name: name, MediaType: mediaType, Size: size, Digest: "d"}
	}
	csv := file("a.csv", "text/csv; charset=utf-8", 10)
	tests := []struct {
		name  string
		opts  []ask.Option
		files []askdata.FileRef
		want  string
	}{
		{"one", nil, []askdata.FileRef{csv}, ""},
		{"none", nil, nil, "is required: choose a file"},
		{"two", nil, []askdata.FileRef{csv, csv}, "must be at most 1; there are 2"},
		{"too few", []ask.Option{ask.Count(2, 3)}, []askdata.FileRef{csv}, "must be at least 2 files; there are 1"},
		{"none, where that is allowed", []ask.Option{ask.Count(0, 3)}, nil, ""},
		{"too large", []ask.Option{ask.MaxSize(9)}, []askdata.FileRef{csv}, "a.csv has 10 bytes; at most 9 are accepted"},
		{"just so large", []ask.Option{ask.MaxSize(10)}, []askdata.FileRef{csv}, ""},
		{"by type", []ask.Option{ask.Accepting("text/csv")}, []askdata.FileRef{csv}, ""},
		{"by type in capitals", []ask.Option{ask.Accepting("TEXT/CSV")}, []askdata.FileRef{csv}, ""},
		{"by another type", []ask.Option{ask.Accepting("text/plain", ".txt")}, []askdata.FileRef{csv}, "must be text/plain or .txt; a.csv is not accepted"},
		{"by kind of type", []ask.Option{ask.Accepting("image/*")}, []askdata.FileRef{file("a", "image/png", 1)}, ""},
		{"by another kind", []ask.Option{ask.Accepting("image/*")}, []askdata.FileRef{file("a", "imagex/png", 1)}, "must be image/*; a is not accepted"},
		{"any type", []ask.Option{ask.Accepting("*/*")}, []askdata.FileRef{file("a", "", 1)}, ""},
		{"by ending", []ask.Option{ask.Accepting(".CSV")}, []askdata.FileRef{file("A.csv", "application/vnd.ms-excel", 1)}, ""},
		{"by a double ending", []ask.Option{ask.Accepting(".tar.gz")}, []askdata.FileRef{file("a.tar.gz", "", 1)}, ""},
		{"by no ending", []ask.Option{ask.Accepting(".csv")}, []askdata.FileRef{file("csv", "text/csv", 1)}, "must be .csv; csv is not accepted"},
		{"broken type", []ask.Option{ask.Accepting("image/*")}, []askdata.FileRef{file("", "image/;;", 1)}, "must be image/*; this file is not accepted"},
		{"the second one", []ask.Option{ask.Count(1, 2), ask.Accepting(".csv")}, []askdata.FileRef{csv, file("b.exe", "", 1)}, "must be .csv; b.exe is not accepted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := questionOf(t, ask.ForFiles("k", "m", tt.opts...))
			_, err := q.Check(askdata.Answer{Action: askdata.Accept, Files: tt.files})
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if got := fieldErrors(t, err)["/file"]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// File names have no characters that make them look like other names.
func TestFileNamesAreCleaned(t *testing.T) {
	q := questionOf(t, ask.ForFiles("f", "m", ask.Count(1, 9)))
	a := askdata.Answer{Action: askdata.Accept}
	for _, name := range []string{"plain näme.csv", "bill\u202efdp.exe", "a\u2066b\u2069\u200e.txt", "two\nlines\x00\x1b[31m", "bad\xff"} {
		a.Files = append(a.Files, askdata.FileRef{Name: name})
	}
	taken, err := q.Check(a)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"plain näme.csv", "billfdp.exe", "ab.txt", "twolines[31m", "bad\ufffd"} {
		if got := taken.Files[i].Name; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if a.Files[1].Name == taken.Files[1].Name {
		t.Error("the caller's answer was changed")
	}
}

func TestInvalidFileRules(t *testing.T) {
	for want, opts := range map[string][]ask.Option{
		"can't be 3 to 2 files":                      {ask.Count(3, 2)},
		"can't be 0 to 0 files":                      {ask.Count(0, 0)},
		"can't be -1 to 1 files":                     {ask.Count(-1, 1)},
		"can't have a maximum file size of 0 bytes":  {ask.MaxSize(0)},
		`"csv" is neither a media type such as`:      {ask.Accepting("csv")},
		`"" is neither a media type such as`:         {ask.Accepting("")},
		"ask.Length is for questions with one field": {ask.Length(1, 2)},
	} {
		_, err := runAsk(t, Driver{}, ask.ForFiles("k", "m", opts...).Ask)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// A file can be read several times with the driver's Open.
func TestFilesCanBeRead(t *testing.T) {
	two := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{fileRef, {Name: "b.csv", Size: 1, Digest: "d2"}}}
	d := Driver{Provider: answerAll(two, nil), Open: func(digest string) (io.ReadCloser, error) {
		if digest == "d2" {
			return nil, errors.New("gone")
		}
		return io.NopCloser(strings.NewReader("content of " + digest)), nil
	}}
	p := photon(func(yield generators.Yield) (string, error) {
		handles, err := ask.Files(yield, "k", "m")
		if err != nil || len(handles) != 2 || handles[0].Name != fileRef.Name || handles[0].MediaType != fileRef.MediaType || handles[0].Size != fileRef.Size {
			t.Errorf("got %+v, %v", handles, err)
		}
		for range 2 {
			r, err := handles[0].Open()
			if err != nil {
				return "", err
			}
			if text, _ := io.ReadAll(r); string(text) != "content of d1" {
				t.Errorf("read %q", text)
			}
		}
		_, err = handles[1].Open()
		return "", err
	})
	if _, err := d.Run(t.Context(), p, nil); err == nil || err.Error() != "gone" {
		t.Errorf("got %v", err)
	}
	d.Open = nil
	_, err := runAsk(t, d, func(yield generators.Yield) (int, error) {
		handles, err := ask.Files(yield, "k", "m")
		if err == nil {
			_, err = handles[0].Open()
		}
		return 0, err
	})
	if err == nil || !strings.Contains(err.Error(), "is not available") {
		t.Errorf("without Open: %v", err)
	}
	if _, err := (ask.Handle{}).Open(); err == nil {
		t.Error("the zero Handle can be opened")
	}
}

func TestOptionalFile(t *testing.T) {
	d := Driver{Provider: answerAll(askdata.Answer{Action: askdata.Accept}, nil)}
	value, err := runAsk(t, d, func(yield generators.Yield) (string, error) {
		h, err := ask.File(yield, "k", "m", ask.Count(0, 1))
		return h.Name, err
	})
	if err != nil || value != `""` {
		t.Errorf("got %s, %v", value, err)
	}
}

// URL accepts only web addresses.
func TestURL(t *testing.T) {
	for address, fine := range map[string]bool{
		"https://example.org/login?x=1#y": true, "http://127.0.0.1:8080/": true, "HTTPS://EXAMPLE.ORG": true, "https://[::1]/": true,
		"javascript:alert(1)": false, "JavaScript://example.org/%0aalert(1)": false, "ftp://example.org/a": false, "file:///etc/passwd": false,
		"data:text/html,hi": false, "/login": false, "//example.org/login": false, "example.org": false, "https:": false, "https:///path": false,
		"https:example.org": false, "": false, "http://a b/": false, "https://example.org/\nSet-Cookie: a": false, " https://example.org": false,
	} {
		q := Driver{Provider: answerAll(askdata.Answer{Action: askdata.Accept, Content: []byte(`{"any":1}`)}, nil)}
		_, err := runAsk(t, q, func(yield generators.Yield) (int, error) { return 0, ask.URL(yield, "k", "m", address) })
		if (err == nil) != fine {
			t.Errorf("%q: %v", address, err)
		}
	}
	if q := questionOf(t, ask.ForURL("k", "m", "https://example.org/login")); q.URL != "https://example.org/login" || q.Fields != nil {
		t.Errorf("the question is %+v", q)
	}
	if _, err := runAsk(t, Driver{}, ask.ForURL("k", "m", "https://example.org", ask.Title("T")).Ask); err == nil || !strings.Contains(err.Error(), "ask.Title is for questions with one field, not for a url") {
		t.Errorf("with an option for fields: %v", err)
	}
}

package command

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsFromGoRun(t *testing.T) {
	for file, want := range map[string]bool{
		"/tmp/go-build2027115546/b001/exe/greet": true,
		"/home/ada/exe/greet":                    false,
		"/usr/local/bin/beam":                    false,
	} {
		if got := IsFromGoRun(filepath.FromSlash(file)); got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

// A program is named as a shell finds it.
func TestCommandOf(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("programs have other names")
	}
	dir := t.TempDir()
	self := filepath.Join(dir, "my beam")
	if err := os.WriteFile(self, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if got := commandOf(self, self); got != "'"+self+"'" {
		t.Error(got)
	}
	t.Chdir(dir)
	if got := commandOf(self, "./my beam"); got != "'"+self+"'" {
		t.Error(got)
	}
	t.Setenv("PATH", dir)
	if got := commandOf(self, self); got != "'my beam'" {
		t.Error(got)
	}
}

package static

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/datastar"
)

func TestAddDatastar(t *testing.T) {
	folder := t.TempDir()
	if err := datastar.Fetch(folder); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(folder + "/datastar.js")
	if err != nil {
		t.Fatal(err)
	}
	script := string(raw)
	defer func(was bool) { added, embedsDatastar = nil, was }(embedsDatastar)
	tests := []struct {
		name     string
		embedded bool
		script   string
		want     string
	}{
		{"it is missing", false, script, script},
		{"Git has converted its lines", false, strings.ReplaceAll(script, "\n", "\r\n"), script},
		{"it is of another version", false, script + ";", ""},
		{"Beam has it", true, script, ""},
	}
	for _, tt := range tests {
		added, embedsDatastar = nil, tt.embedded
		AddDatastar(tt.script, "MIT")
		_, more := Files()
		if got := more[datastar.Script]; got != tt.want {
			t.Errorf("%s: the script has %d bytes, want %d", tt.name, len(got), len(tt.want))
		}
	}
}

func TestFiles(t *testing.T) {
	files, _ := Files()
	for _, name := range []string{"beam.css", "beam.js", "icons/beam.svg"} {
		if _, err := fs.Stat(files, name); err != nil {
			t.Error(err)
		}
	}
}

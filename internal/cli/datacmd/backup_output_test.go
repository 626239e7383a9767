package datacmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/cli/command"
)

// Backups to one file that begin at once don't take each other's partial files for those of
// killed processes: each is written whole, and the last one stays.
func TestBackupsToOneFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint(n), 100)
			for range 50 {
				out, err := (&Backup{File: file, Replace: true}).createOutput(&command.Program{Stdout: os.Stdout})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.WriteString(out, text)
				if err := out.commitOrRemove(err); err != nil {
					t.Error(err)
				}
				raw, err := os.ReadFile(file)
				if err != nil || len(raw) != len(text) {
					t.Errorf("the file has %d bytes, want %d; %v", len(raw), len(text), err)
				}
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("there is %v, want the backup alone; %v", left, err)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		t.Error("there is no backup")
	}
}

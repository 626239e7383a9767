package disk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/disk"
)

// run runs the photon, which may read root, and responds to its question.
func run(t testing.TB, root, args string, response beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return beamtest.RunContext(beamtest.WithRoot(t.Context(), root), t, disk.Photon, args, beamtest.Script{"list": response})
}

// chooseList returns the answer that chooses a list.
func chooseList(name string) beamtest.Response {
	return beamtest.Accept(name)
}

// runError runs the photon, which must not ask, and returns its error.
func runError(t testing.TB, root, args string) error {
	t.Helper()
	return run(t, root, args, beamtest.Response{}).Err
}

// makeTree creates files of the given sizes, by path, and returns root. A path that
// ends with a slash is a folder.
func makeTree(t testing.TB, root string, sizes map[string]int64) string {
	t.Helper()
	for name, size := range sizes {
		path := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, nil, 0o644))
		must(t, os.Truncate(path, size))
	}
	return root
}

// setModified sets the modification time of a file.
func setModified(t testing.TB, root, name string, at time.Time) {
	t.Helper()
	must(t, os.Chtimes(filepath.Join(root, filepath.FromSlash(name)), at, at))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// describeItems returns a list in short form: "a.txt=12 b.txt=3", or "a=2×15" for two
// files.
func describeItems(r disk.Report) string {
	var parts []string
	for _, i := range r.Items {
		part := fmt.Sprintf("%s=%d", i.Name, i.Bytes)
		if i.Files != 1 {
			part = fmt.Sprintf("%s=%d×%d", i.Name, i.Files, i.Bytes)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func countArtifacts(p *beamtest.Outcome) (n int) {
	for _, e := range p.Events {
		if _, ok := e.(*generators.Artifact); ok {
			n++
		}
	}
	return n
}

// artifacts returns the run's artifacts of a media type, by title.
func artifacts[T any](t testing.TB, p *beamtest.Outcome, mediaType string) map[string]T {
	t.Helper()
	all := map[string]T{}
	for _, e := range p.Events {
		if a, ok := e.(*generators.Artifact); ok && a.MediaType == mediaType {
			var v T
			if err := json.Unmarshal(a.Body, &v); err != nil {
				t.Fatalf("artifact %s: %v", a.Title, err)
			}
			all[a.Title] = v
		}
	}
	return all
}

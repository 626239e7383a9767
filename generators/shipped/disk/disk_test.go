package disk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/disk"
)

// newSampleFolder creates a folder with files of several types, sizes and ages.
func newSampleFolder(t testing.TB) string {
	t.Helper()
	root := makeTree(t, t.TempDir(), map[string]int64{
		"a.txt": 1200, "notes/b.txt": 300, "notes/c.TXT": 0, "photos/2026/sea.jpg": 2_500_000,
		"photos/2026/moon.jpg": 2_500_000, "Makefile": 50, ".profile": 1, "empty/": 0,
	})
	day := 24 * time.Hour
	for name, age := range map[string]time.Duration{
		"a.txt": 0, "notes/b.txt": 2 * day, "notes/c.TXT": 8 * day, "Makefile": 100 * day,
		".profile": 1000 * day, "photos/2026/sea.jpg": 5000 * day, "photos/2026/moon.jpg": -3 * day,
	} {
		setModified(t, root, name, time.Now().Add(-age))
	}
	return root
}

func TestLists(t *testing.T) {
	root := newSampleFolder(t)
	for _, test := range []struct{ folder, list, want string }{
		{".", "largest", "photos/2026/moon.jpg=2500000 photos/2026/sea.jpg=2500000 a.txt=1200 notes/b.txt=300 Makefile=50 .profile=1 notes/c.TXT=0"},
		{".", "types", ".jpg=2×5000000 .txt=3×1500 (none)=2×51"},
		{".", "ages", "In the future=2500000 Up to a day=1200 1 to 7 days=300 7 to 30 days=0 30 days to a year=50 1 to 5 years=1 More than 5 years=2500000"},
		{"notes", "largest", "b.txt=300 c.TXT=0"},
		{"notes", "types", ".txt=2×300"},
		{"./photos/../notes/", "ages", "Up to a day=0×0 1 to 7 days=300 7 to 30 days=0 30 days to a year=0×0 1 to 5 years=0×0 More than 5 years=0×0"},
	} {
		p := run(t, root, `{"folder":"`+test.folder+`"}`, chooseList(test.list))
		got := beamtest.Decode[disk.Report](t, p)
		if describeItems(got) != test.want {
			t.Errorf("%s of %s: got %s, want %s", test.list, test.folder, describeItems(got), test.want)
		}
		want := disk.Report{Folder: ".", Files: 7, Folders: 4, Bytes: 5_001_551, List: test.list, Items: got.Items}
		if test.folder != "." {
			want.Folder, want.Files, want.Folders, want.Bytes = "notes", 2, 0, 300
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", test.folder, got, want)
		}
	}
}

func TestResultAndChart(t *testing.T) {
	root := newSampleFolder(t)
	p := run(t, root, `{}`, chooseList("largest"))
	statuses := strings.Join(p.Statuses(), "\n")
	if want := "Scanning the whole folder\nthe whole folder: 7 files in 5 folders, 5.0 MB\nLargest files: 7 files in 5 folders, 5.0 MB"; statuses != want {
		t.Errorf("the statuses are\n%s\nwant\n%s", statuses, want)
	}
	if q := p.Questions["list"].Message; q != "7 files in 5 folders, 5.0 MB. What should be listed?" {
		t.Errorf("the message is %q", q)
	}
	item := beamtest.Decode[disk.Report](t, p).Items[2]
	if item.Name != "a.txt" || item.Size != "1.2 kB" || item.Bytes != 1200 || !strings.HasPrefix(item.Modified, time.Now().UTC().Format("2006-")) {
		t.Errorf("the item of a.txt is %+v", item)
	}
	if n := countArtifacts(p); n > 0 {
		t.Errorf("the largest files have %d artifacts besides the result", n)
	}

	p = run(t, root, `{}`, chooseList("types"))
	if n := countArtifacts(p); n != 1 {
		t.Errorf("the types have %d artifacts, want a chart", n)
	}
	wantChart := generators.Chart{Kind: generators.Bars, XTitle: "Type", YTitle: "MB", Labels: []string{".jpg", ".txt", "(none)"},
		Series: []generators.Series{{Name: "MB", Values: []float64{5, 0.0015, 0.000051}}}}
	if got := artifacts[generators.Chart](t, p, generators.ChartType)["Files by type"]; !reflect.DeepEqual(got, wantChart) {
		t.Errorf("the chart is %v", got)
	}
	if got := artifacts[generators.Chart](t, run(t, root, `{}`, chooseList("ages")), generators.ChartType)["Files by age"]; len(got.Labels) != 7 {
		t.Errorf("the chart of ages is %v", got)
	}
}

// A chart that leaves out types says so; the result has them.
func TestManyTypes(t *testing.T) {
	files := map[string]int64{}
	for i := range 30 {
		files[fmt.Sprintf("a.t%02d", i)] = int64(i + 1)
	}
	p := run(t, makeTree(t, t.TempDir(), files), `{}`, chooseList("types"))
	if got := artifacts[generators.Chart](t, p, generators.ChartType)["Files by type (the first 20 of 30)"]; len(got.Labels) != 20 || got.Labels[0] != ".t29" {
		t.Errorf("the chart is %+v", got)
	}
	if got := beamtest.Decode[disk.Report](t, p); len(got.Items) != 30 {
		t.Errorf("the result has %d types, want 30", len(got.Items))
	}
}

func TestUnansweredQuestion(t *testing.T) {
	root := newSampleFolder(t)
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(),
		ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout), ask.ErrUnsupported: beamtest.Fail(ask.ErrUnsupported),
	} {
		p := run(t, root, `{}`, response)
		if !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
		if n := countArtifacts(p); n > 0 {
			t.Errorf("after %v, %d artifacts were shown", want, n)
		}
	}
	for _, content := range []string{`{}`, `{"list":"Largest files"}`, `{"list":""}`, `{"list":["types"]}`} {
		var invalid *generators.InvalidError
		if p := run(t, root, `{}`, beamtest.Accept(json.RawMessage(content))); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
		}
	}
}

// Without a root, nothing is read, and the error says how to set one.
func TestWithoutRoot(t *testing.T) {
	p := beamtest.Run(t, disk.Photon, `{}`, nil)
	if p.Err == nil || !strings.Contains(p.Err.Error(), "--root") || len(p.Events) > 0 {
		t.Errorf("got %v after %d events", p.Err, len(p.Events))
	}
}

func TestInvalidArguments(t *testing.T) {
	for _, args := range []string{`{"folder":5}`, `{"folder":null}`, `{"path":"."}`, `{"folder":"` + strings.Repeat("x", 4097) + `"}`} {
		var invalid *generators.InvalidError
		if _, err := disk.Photon.Check(json.RawMessage(args)); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

// The photon doesn't ask about a folder without files.
func TestEmptyFolder(t *testing.T) {
	p := run(t, makeTree(t, t.TempDir(), map[string]int64{"a/b/": 0}), `{"folder":"a"}`, beamtest.Response{})
	if want := `{"folder":"a","files":0,"folders":1,"bytes":0,"items":[]}`; string(p.Result) != want || p.Err != nil {
		t.Errorf("got %s, %v; want %s", p.Result, p.Err, want)
	}
	if statuses := strings.Join(p.Statuses(), "\n"); !strings.Contains(statuses, "a: 0 files in 2 folders, 0 bytes") {
		t.Errorf("the statuses are %s", statuses)
	}
	checkProgress(t, p)
}

// checkProgress checks that progress never falls and ends at 100 percent.
func checkProgress(t *testing.T, p *beamtest.Outcome) {
	t.Helper()
	var all []*generators.ProgressEvent
	for _, e := range p.Events {
		if e, ok := e.(*generators.ProgressEvent); ok {
			all = append(all, e)
		}
	}
	if len(all) == 0 || all[len(all)-1].Done != 100 {
		t.Fatalf("the progress events are %v, want the last at 100", all)
	}
	for i, e := range all {
		if e.Total != 100 || e.Done > 100 || i > 0 && e.Done < all[i-1].Done {
			t.Errorf("progress event %d is %+v", i, e)
		}
	}
}

// TestReplay crashes the photon at every point. A run that resumes shows the folder as it was
// scanned.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // progress depends on the time
		rooted := rootedTB{t, beamtest.WithRoot(t.Context(), newSampleFolder(t))}
		for _, list := range []string{"largest", "types", "ages"} {
			p := beamtest.Replay(rooted, disk.Photon, nil, beamtest.Script{"list": chooseList(list)})
			if got := beamtest.Decode[disk.Report](t, p); got.Files != 7 || len(got.Items) < 3 {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// A rootedTB is a test whose context has a root.
type rootedTB struct {
	testing.TB
	ctx context.Context
}

func (r rootedTB) Context() context.Context { return r.ctx }

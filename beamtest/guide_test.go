package beamtest_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// This file has the code of docs/testing.md.

type Target struct {
	Env string `json:"env" enum:"dev,prod"`
}

var deploy = generators.New("deploy", func(_ context.Context, in Target, yield generators.Yield) (string, error) {
	yield(generators.Status("checking " + in.Env))
	ok, err := ask.Confirm(yield, "go", "Deploy to "+in.Env+"?", ask.Timeout(24*time.Hour))
	if err != nil || !ok {
		return "", err
	}
	return generators.Step(yield, "release", func(context.Context) (string, error) { return "release 7", nil })
}, &generators.Options{Durable: true})

func TestDeploy(t *testing.T) {
	got := beamtest.Run(t, deploy, Target{Env: "prod"}, beamtest.Script{"go": beamtest.Accept(true)})
	if release := beamtest.Decode[string](t, got); release != "release 7" {
		t.Errorf("deployed %q", release)
	}
	if want := []generators.Event{generators.Status("checking prod")}; !reflect.DeepEqual(got.Events, want) {
		t.Errorf("the events are %v, want %v", got.Events, want)
	}
	got = beamtest.Run(t, deploy, Target{Env: "prod"}, beamtest.Script{"go": beamtest.Decline()})
	if !errors.Is(got.Err, ask.ErrDeclined) || len(got.Steps) > 0 {
		t.Errorf("after a no, it returned %v and had done %d steps", got.Err, len(got.Steps))
	}
}

func TestImport(t *testing.T) {
	people := beamtest.File{Name: "people.csv", MediaType: "text/csv", Content: []byte("Ada\nBob\n")}
	got := beamtest.Run(t, importPeople, nil, beamtest.Script{"file": beamtest.Accept(people)})
	if names := beamtest.Decode[[]string](t, got); !slices.Equal(names, []string{"Ada", "Bob"}) {
		t.Errorf("imported %q", names)
	}
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		late := beamtest.Accept(true).After(25 * time.Hour)
		got := beamtest.Run(t, deploy, Target{Env: "prod"}, beamtest.Script{"go": late})
		if took := time.Since(began); !errors.Is(got.Err, ask.ErrTimeout) || took != 24*time.Hour {
			t.Errorf("after %v, it returned %v", took, got.Err)
		}
	})
}

func TestDeploySurvivesCrashes(t *testing.T) {
	beamtest.Replay(t, deploy, Target{Env: "prod"}, beamtest.Script{"go": beamtest.Accept(true)})
}

func TestListFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := beamtest.RunContext(beamtest.WithRoot(t.Context(), dir), t, listFolder, nil, nil)
	if names := beamtest.Decode[[]string](t, got); !slices.Equal(names, []string{"a.txt"}) {
		t.Errorf("listed %q", names)
	}
}

func TestDeployOverMCP(t *testing.T) {
	b := newBeam(t, deploy)

	conn := beamtest.Pipe(t, b)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"go": "yes"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "deploy", Arguments: Target{Env: "prod"}})
	if err != nil || result.IsError {
		t.Errorf("got %v, %v", result, err)
	}
}

var importPeople = newPhoton(func(_ context.Context, yield generators.Yield) (names []string, err error) {
	file, err := ask.File(yield, "file", "Which people?")
	if err != nil {
		return nil, err
	}
	r, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		names = append(names, lines.Text())
	}
	return names, lines.Err()
})

var listFolder = newPhoton(func(ctx context.Context, _ generators.Yield) (names []string, err error) {
	dir, ok := generators.Root(ctx)
	if !ok {
		return nil, errors.New("there is no folder to read")
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
})

package shipped_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/portability"
)

// listTools returns the tools that an MCP client with elicitation is offered.
func listTools(t *testing.T) []*mcp.Tool {
	t.Helper()
	b, err := beam.New(beam.Config{Photons: shipped.Photons()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Shutdown(context.Background()) })
	conn := beamtest.Pipe(t, b)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// MCP clients reject tools for schemas that are valid, but that they can't represent.
// MCP Inspector reports those, by the rules of package portability.
func TestSchemasArePortable(t *testing.T) {
	outputs := 0
	for _, tool := range listTools(t) {
		for _, finding := range portability.Lint("inputSchema", tool.InputSchema) {
			t.Errorf("%s: %s", tool.Name, finding)
		}
		if tool.OutputSchema != nil {
			outputs++
			for _, finding := range portability.Lint("outputSchema", tool.OutputSchema) {
				t.Errorf("%s: %s", tool.Name, finding)
			}
		}
	}
	if want := len(shipped.Photons()); outputs != want {
		t.Errorf("%d tools have an output schema, want all %d photons", outputs, want)
	}
}

// A model chooses a tool, and its arguments, by what it reads about them.
func TestModelsReadWhatToolsDo(t *testing.T) {
	sentences := regexp.MustCompile(`^[A-Z][^\n]*[.]$`)
	for _, tool := range listTools(t) {
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(tool.Name) || tool.Title == "" || !sentences.MatchString(tool.Description) {
			t.Errorf("%q, %q, %q: want a name in snake case, a title, and sentences", tool.Name, tool.Title, tool.Description)
		}
		schema, _ := tool.InputSchema.(map[string]any)
		arguments, _ := schema["properties"].(map[string]any)
		for name, a := range arguments {
			if description, _ := a.(map[string]any)["description"].(string); description == "" {
				t.Errorf("%s: the argument %s has no description", tool.Name, name)
			}
		}
	}
}

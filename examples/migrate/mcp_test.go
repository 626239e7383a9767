package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askMCPClient has the official client call the tool, and answers its question.
func askMCPClient(t *testing.T, answer *mcp.ElicitResult) (message string, result *mcp.CallToolResult, db *database) {
	t.Helper()
	folder := t.TempDir()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			message = r.Params.Message
			return answer, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command(t, folder, "stdio")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if result, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "migrate"}); err != nil {
		t.Fatal(err)
	}
	if db, err = openDatabase(filepath.Join(folder, "shop.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return message, result, db
}

func lastText(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	text, ok := r.Content[len(r.Content)-1].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the result is %+v", r.Content)
	}
	return text.Text
}

func TestApprovedFromMCPClient(t *testing.T) {
	message, result, db := askMCPClient(t, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"apply": "yes"}})
	checkMessage(t, message)
	if text := lastText(t, result); result.IsError || !strings.HasPrefix(text, "Applied 4 migrations to shop.db:") {
		t.Errorf("the result is %q", text)
	}
	checkMigrated(t, db)
}

func TestRefusedFromMCPClient(t *testing.T) {
	for name, answer := range map[string]*mcp.ElicitResult{
		"no": {Action: "accept", Content: map[string]any{"apply": "no"}}, "decline": {Action: "decline"}, "cancel": {Action: "cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, db := askMCPClient(t, answer)
			if names := appliedTo(t, db); len(names) > 0 {
				t.Errorf("%q were applied", names)
			}
		})
	}
}

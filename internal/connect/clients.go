// Package connect adds a server to the configuration of an MCP client.
package connect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Client is an MCP client that starts servers itself.
type Client struct {
	Name  string // on the command line
	Title string
	// UserFile is the configuration for all of a user's projects, relative to the home
	// folder, and ProjectFile that of a project, relative to its folder. They are empty if
	// the client has none, or one that other programs shouldn't write.
	UserFile, ProjectFile string
	// HasProjects means that a project can have a configuration of its own, which isn't
	// ProjectFile if that is empty.
	HasProjects bool
	// Where tells a person where the entry belongs, if it isn't in UserFile.
	Where string
	// RemoveCommand is the client's own command that removes a server, without its name.
	// The client may keep servers elsewhere, too. It is empty if the client has none.
	RemoveCommand string

	member   string // the object of servers
	typeName string // the type of a server, if the client wants one
}

var clients = []Client{
	{Name: "claude-code", Title: "Claude Code", UserFile: ".claude.json", ProjectFile: ".mcp.json", HasProjects: true, RemoveCommand: "claude mcp remove", member: "mcpServers", typeName: "stdio"},
	{Name: "cursor", Title: "Cursor", UserFile: filepath.Join(".cursor", "mcp.json"), ProjectFile: filepath.Join(".cursor", "mcp.json"), HasProjects: true, member: "mcpServers"},
	{Name: "vscode", Title: "VS Code", Where: "the file that the command \"MCP: Open User Configuration\" opens, or .vscode/mcp.json in a project", HasProjects: true, member: "servers", typeName: "stdio"},
	{Name: "claude-desktop", Title: "Claude Desktop", Where: "the file that Settings > Developer > Edit Config opens; then restart Claude Desktop", member: "mcpServers"},
	{Name: "windsurf", Title: "Windsurf", Where: "~/.codeium/windsurf/mcp_config.json", member: "mcpServers"},
	{Name: "gemini-cli", Title: "Gemini CLI", Where: "~/.gemini/settings.json, or .gemini/settings.json in a project", HasProjects: true, RemoveCommand: "gemini mcp remove", member: "mcpServers"},
}

// Names returns the names of all clients.
func Names() (names []string) {
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client with a name.
func Find(name string) (Client, error) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, fmt.Errorf("the client must be one of %s, not %q; any other client that starts servers takes the entry that claude-desktop takes", strings.Join(Names(), ", "), name)
	}
	return clients[i], nil
}

// Location returns where the client's entry belongs, for a person.
func (c Client) Location() string { return cmp.Or(c.Where, "~/"+filepath.ToSlash(c.UserFile)) }

// An Entry is a server that a client starts.
type Entry struct {
	Name    string
	Command string
	Args    []string
}

// members returns the members of the entry's object, as the client wants them.
func (c Client) members(e Entry) []member {
	all := []member{{"command", encode(e.Command)}, {"args", encode(e.Args)}}
	if c.typeName != "" {
		all = slices.Insert(all, 0, member{"type", encode(c.typeName)})
	}
	return all
}

// Document returns a whole configuration with only the entry.
func (c Client) Document(e Entry) []byte {
	edited, _, err := c.AddTo(nil, e)
	if err != nil {
		panic(err) // an empty configuration is valid
	}
	return edited
}

// encode returns a text or a list of texts as JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts have a JSON form
	}
	return bytes.TrimSpace(b.Bytes())
}

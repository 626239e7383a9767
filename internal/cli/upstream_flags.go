package cli

import (
	"fmt"

	"github.com/photon-beam/beam/internal/upstream/config"
)

// upstreamFlags are the flags for other MCP servers.
type upstreamFlags struct {
	MCPConfig []string `name:"mcp-config" placeholder:"FILE" type:"path" sep:"none" help:"File that names other MCP servers, as MCP clients have it (mcpServers). Beam offers their tools as its own, named SERVER__TOOL. Can be repeated."`

	servers []config.Server // that MCPConfig names
}

// loadUpstreams reads the files.
func (u *upstreamFlags) loadUpstreams() (err error) {
	if u.servers, err = config.Load(u.MCPConfig...); err != nil {
		return fmt.Errorf("--mcp-config: %w", err)
	}
	return nil
}

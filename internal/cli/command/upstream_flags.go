package command

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// UpstreamFlags are the flags for other MCP servers.
type UpstreamFlags struct {
	MCPConfig []string `common:"" name:"mcp-config" placeholder:"FILE" type:"path" sep:"none" help:"File that names other MCP servers, as MCP clients have it (mcpServers). Beam offers their tools as its own, named SERVER__TOOL, besides those of servers that the command upstream add added. Can be repeated."`

	ElicitationEnabled       bool        `default:"true" help:"Let these servers ask questions (default ${default}). With --elicitation-enabled=false, they are told that nobody can be asked."`
	ElicitationTimeout       secondsFlag `default:"0" placeholder:"TIME" help:"How long a question of such a server may stay open, as in 90s, 12h, or a number of seconds; 0 means no limit (default ${default})."`
	ElicitationMaxConcurrent int         `default:"100" placeholder:"N" help:"The most questions that one session with such a server may have open at once (default ${default})."`
}

// CheckFlags checks the flags, and the files.
func (u *UpstreamFlags) CheckFlags() error {
	var problems []error
	if _, err := config.Load(u.MCPConfig...); err != nil {
		problems = append(problems, fmt.Errorf("--mcp-config: %w", err))
	}
	if u.ElicitationMaxConcurrent < 1 {
		problems = append(problems, errors.New("--elicitation-max-concurrent must be at least 1; --elicitation-enabled=false allows no questions"))
	}
	return errors.Join(problems...)
}

// elicitation returns what the servers may ask.
func (u *UpstreamFlags) elicitation() policy.Elicitation {
	return policy.Elicitation{Enabled: u.ElicitationEnabled, Timeout: time.Duration(u.ElicitationTimeout), MaxConcurrent: u.ElicitationMaxConcurrent}
}

// MayHaveUpstreams reports whether photons may come from other servers, so that which
// there are isn't known yet.
func (c *AppFlags) MayHaveUpstreams() bool {
	if len(c.MCPConfig) > 0 || c.Memory {
		return len(c.MCPConfig) > 0
	}
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return false
	}
	_, err = os.Stat(app.UpstreamFile(dir))
	return err == nil
}

// secondsFlag is the type of flags that are a duration or a number of seconds.
type secondsFlag time.Duration

var _ encoding.TextUnmarshaler = (*secondsFlag)(nil)

// maxSeconds bounds a number of seconds: a year.
const maxSeconds = 365 * 24 * 3600

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *secondsFlag) UnmarshalText(text []byte) error {
	if n, err := strconv.ParseUint(string(text), 10, 32); err == nil && n <= maxSeconds {
		*s = secondsFlag(time.Duration(n) * time.Second)
		return nil
	}
	var d Duration
	if err := d.UnmarshalText(text); err != nil {
		return flagValueError(text, "a time such as 90s or 12h, or a number of seconds")
	}
	*s = secondsFlag(d)
	return nil
}

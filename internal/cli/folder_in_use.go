package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
)

// ownerQueryTimeout is how long the owner of a folder may take to say who it is.
const ownerQueryTimeout = 2 * time.Second

// folderInUseError says who has the data folder in use, and what can be done about it.
func (c *appFlags) folderInUseError(ctx context.Context) error {
	dir, err := resolveDataDir(c.Data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ownerQueryTimeout)
	defer cancel()
	owner, _ := controlsocket.Identify(ctx, dir) // who does not say is another Beam
	var who string
	if owner.PID != 0 {
		who = ", " + describeOwner(owner) + describePages(owner)
	}
	if strings.HasSuffix(owner.Command, stdioSuffix) {
		who += ", which an MCP client started"
	}
	return fmt.Errorf("the data folder %s is in use by another Beam%s: end that, or choose another folder with --data, or --memory", dir, who)
}

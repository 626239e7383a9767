package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
)

// The commands that own a data folder, as described after their program's name.
const (
	serveSuffix = " serve"
	stdioSuffix = " stdio"
)

// ownerQueryTimeout is how long the owner of a folder may take to identify
// itself.
const ownerQueryTimeout = 2 * time.Second

// folderInUseError returns an error that says which process uses the data folder
// and what the user can do about it.
func (c *appFlags) folderInUseError(ctx context.Context) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ownerQueryTimeout)
	defer cancel()
	owner, _ := controlsocket.Identify(ctx, dir) // an owner that doesn't say is "another Beam"
	var details string
	if owner.PID != 0 {
		details = ", " + describeOwner(owner) + describePages(owner)
	}
	if strings.HasSuffix(owner.Command, stdioSuffix) {
		details += ", which an MCP client started"
	}
	return fmt.Errorf("the data folder %s is in use by another Beam%s: stop that one, or choose another folder with --data, or --memory", dir, details)
}

// describeOwner names the process that owns a data folder.
func describeOwner(o controlsocket.Owner) string {
	if o.PID == 0 {
		return "another Beam"
	}
	return fmt.Sprintf("%s (process %d)", o.Command, o.PID)
}

// describePages says where the owner serves its pages, if it does.
func describePages(o controlsocket.Owner) string {
	if o.Pages == "" {
		return ""
	}
	return ", at " + o.Pages
}

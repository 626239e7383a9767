package command

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
	ServeSuffix = " serve"
	StdioSuffix = " stdio"
)

// OwnerQueryTimeout is how long the owner of a folder may take to identify
// itself.
const OwnerQueryTimeout = 2 * time.Second

// FolderInUseError returns an error that says which process uses the data folder
// and what the user can do about it.
func (c *AppFlags) FolderInUseError(ctx context.Context) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, OwnerQueryTimeout)
	defer cancel()
	owner, _ := controlsocket.Identify(ctx, dir) // an owner that doesn't say is "another Beam"
	var details string
	if owner.PID != 0 {
		details = ", " + DescribeOwner(owner) + DescribePages(owner)
	}
	if strings.HasSuffix(owner.Command, StdioSuffix) {
		details += ", which an MCP client started"
	}
	return fmt.Errorf("the data folder %s is in use by another Beam%s: stop that one, or choose another folder with --data, or --memory", dir, details)
}

// DescribeOwner names the process that owns a data folder.
func DescribeOwner(o controlsocket.Owner) string {
	if o.PID == 0 {
		return "another Beam"
	}
	return fmt.Sprintf("%s (process %d)", o.Command, o.PID)
}

// DescribePages says where the owner serves its pages, if it does.
func DescribePages(o controlsocket.Owner) string {
	if o.Pages == "" {
		return ""
	}
	return ", at " + o.Pages
}

package beam

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/joint"
)

// askingWho is how long the owner of a folder may take to say who it is.
const askingWho = 2 * time.Second

// inUse says who has the data folder in use, and what can be done about it.
func (c *common) inUse(ctx context.Context) error {
	dir, err := dataDir(c.Data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askingWho)
	defer cancel()
	owner, _ := joint.Who(ctx, dir) // who does not say is another Beam
	var who string
	if owner.PID != 0 {
		who = ", " + described(owner) + where(owner)
	}
	if strings.HasSuffix(owner.Command, commandStdio) {
		who += ", which an MCP client started"
	}
	return fmt.Errorf("the data folder %s is in use by another Beam%s: end that, or choose another folder with --data, or --memory", dir, who)
}

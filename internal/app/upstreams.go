package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"sync"

	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// upstreams are the connections to other servers, and the files that define these.
type upstreams struct {
	*upstream.Manager
	folder   *datafolder.Folder
	state    smallstate.Store
	files    []string      // besides the folder's own
	audit    *policy.Audit // nil for none
	logger   *slog.Logger
	changing sync.Mutex // held while the folder's own file changes
}

// newUpstreams makes the manager of the upstreams, which registers their tools as photons.
// isOwnAddress reports whether an address is that of one of the app's own pages. The error has
// everything that is wrong with the files that define the upstreams.
func newUpstreams(c Config, state smallstate.Store, meter *metrics.Metrics, isOwnAddress func(*url.URL) bool) (*upstreams, error) {
	u := &upstreams{folder: c.Folder, state: state, files: c.UpstreamFiles, logger: c.Logger}
	servers, err := config.Load(u.filesNow()...)
	if err != nil {
		return nil, err
	}
	rules := policy.Options{State: state, Shared: c.Folder.IsShared(), Elicitation: c.Elicitation, Meter: meter, Logger: c.Logger}
	if !c.Folder.Temporary {
		u.audit, err = policy.OpenAudit(c.Folder.Dir, func(err error) { c.Logger.Error("writing the audit file of upstreams", "err", err) })
		if err != nil {
			return nil, err
		}
		rules.Audit = u.audit
	}
	u.Manager, err = upstream.NewManager(upstream.Options{
		Servers: servers, Photons: c.Photons, Policy: rules, OwnFile: u.ownFile(),
		SamplingAvailable: true, // a person can answer in the model's place
		RootsAvailable:    true, // likewise
		IsOwnAddress:      isOwnAddress,
		Name:              "beam", Version: Version(), Logger: c.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, u.audit.Close())
	}
	meter.RegisterUpstreams(u.Status)
	return u, nil
}

// ownFile returns the folder's own file of upstreams, which may not exist; empty if the folder
// has none.
func (u *upstreams) ownFile() string {
	if u.folder.Temporary {
		return ""
	}
	return UpstreamFile(u.folder.Dir)
}

// filesNow returns the files that define the upstreams: the folder's own if it exists.
func (u *upstreams) filesNow() []string {
	own := u.ownFile()
	if _, err := os.Stat(own); own == "" || errors.Is(err, fs.ErrNotExist) {
		return u.files
	}
	return append(slices.Clip(u.files), own)
}

// problems says in a sentence each which upstreams are not connected, and why.
func (u *upstreams) problems() (all []string) {
	for _, s := range u.Status() {
		if s.State != upstream.Connected {
			all = append(all, fmt.Sprintf("the MCP server %s is not connected: %s", s.Name, cmp.Or(s.LatestError(), "it has not responded yet")))
		}
	}
	return all
}

// Remove removes a server from the folder's own file, and ends the connection to it. The
// error may wrap [config.ErrNotFound].
func (u *upstreams) Remove(name string) error {
	_, err := u.change(UpstreamRequest{Action: UpstreamRemove, Name: name})
	return err
}

// change changes the folder's own file, and applies it. The warning says what
// can't be used of it.
func (u *upstreams) change(r UpstreamRequest) (warning, err error) {
	if u.folder.Temporary {
		return nil, config.ErrNotFound // it has no file
	}
	u.changing.Lock()
	defer u.changing.Unlock()
	if r.Action == UpstreamAdd {
		if err := u.checkNew(r.Name); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), upstream.StartTimeout)
	defer cancel()
	state := u.state
	if u.folder.IsShared() {
		state = nil // others may have a server of that name
	}
	if err := changeUpstreams(ctx, u.folder.Dir, r, state); err != nil {
		return nil, err
	}
	servers, err := config.LoadValid(u.filesNow()...)
	if err != nil {
		u.logger.Warn("not all upstreams can be used", "err", err)
	}
	problems := u.Configure(ctx, servers)
	for name, err := range problems {
		u.logger.Warn("an upstream can't be used", "upstream", name, "err", err)
	}
	return errors.Join(UpstreamProblem(u.folder.Dir, r.Name), problems[r.Name]), nil
}

// checkNew returns an error for a name that a server of another file has.
func (u *upstreams) checkNew(name string) error {
	for _, file := range u.files {
		if _, taken, _ := config.Find(file, name); taken {
			return fmt.Errorf("there is a server %q already, in %s, which this Beam was started with: choose another name, or change it there", name, file)
		}
	}
	return nil
}

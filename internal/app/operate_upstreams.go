package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// An UpstreamRequest is the argument of [RequestUpstream].
type UpstreamRequest struct {
	Action     string             `json:"action"` // one of the Upstream constants
	Name       string             `json:"name,omitempty"`
	Definition *config.Definition `json:"definition,omitempty"` // to add
	Replace    bool               `json:"replace,omitempty"`    // a server of that name
	Tool       string             `json:"tool,omitempty"`       // to accept; empty for all
}

// The actions of an [UpstreamRequest].
const (
	UpstreamAdd    = "add"
	UpstreamRemove = "remove"
	UpstreamAccept = "accept"
	UpstreamStatus = "status"
	UpstreamPins   = "pins"
)

// An UpstreamReply is the reply to an [UpstreamRequest].
type UpstreamReply struct {
	Error    string            `json:"error,omitempty"`
	Warning  string            `json:"warning,omitempty"` // what keeps Beam from using the change
	Accepted []string          `json:"accepted,omitempty"`
	Status   []upstream.Status `json:"status,omitempty"`
	// Pins are what was accepted of the upstream's tools, for [upstream.Check].
	Pins []smallstate.Value `json:"pins,omitempty"`
}

// Err returns the error in the reply, or nil. It may be [config.ErrExists] or
// [config.ErrNotFound].
func (r *UpstreamReply) Err() error {
	for _, err := range []error{config.ErrExists, config.ErrNotFound} {
		if r.Error == err.Error() {
			return err
		}
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	return nil
}

// UpstreamFile returns the data folder's own file of upstreams, which may not exist.
func UpstreamFile(dir string) string { return filepath.Join(dir, config.OwnFile) }

// UpstreamProblem returns why the own server of a name in a data folder can't be used; nil if it
// can, or if there is none.
func UpstreamProblem(dir, name string) error {
	l, _, err := config.Find(UpstreamFile(dir), name)
	return errors.Join(err, l.Problem)
}

// ChangeUpstreams adds a server to the file of a folder that no [App] uses, or removes one.
func ChangeUpstreams(ctx context.Context, f *datafolder.Folder, r UpstreamRequest, logger *slog.Logger) error {
	if r.Action != UpstreamRemove {
		return changeUpstreams(ctx, f.Dir, r, nil)
	}
	return f.WithStore(ctx, logger, func(s *store.Store) error { return changeUpstreams(ctx, f.Dir, r, s.State()) })
}

// changeUpstreams is ChangeUpstreams, given the folder's small state. Removing a server forgets what
// was accepted of it, unless that is nil.
func changeUpstreams(ctx context.Context, dir string, r UpstreamRequest, s smallstate.Store) (err error) {
	file := UpstreamFile(dir)
	switch {
	case r.Action == UpstreamAdd && r.Definition != nil:
		err = config.Add(file, r.Name, *r.Definition, r.Replace)
	case r.Action == UpstreamRemove:
		if err = config.Remove(file, r.Name); err == nil && s != nil {
			err = policy.RemovePins(ctx, s, r.Name)
		}
	default:
		err = fmt.Errorf("it can't do %q", r.Action)
	}
	return err
}

// handleUpstream operates upstreams for another process.
func (h *controlServer) handleUpstream(ctx context.Context, r *controlsocket.Request) {
	var request UpstreamRequest
	if err := json.Unmarshal(r.Args, &request); err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "it can't read what to do with the upstream"))
		return
	}
	if r.Accept() != nil {
		return
	}
	if err := json.NewEncoder(r).Encode(h.operateUpstreams(ctx, request)); err != nil {
		h.logger.Warn("sending the reply about upstreams", "err", err)
	}
}

func (h *controlServer) operateUpstreams(ctx context.Context, r UpstreamRequest) (reply UpstreamReply) {
	var err, warning error
	switch {
	case r.Action == UpstreamStatus:
		reply.Status = h.upstreams.Status()
	case r.Action == UpstreamPins:
		reply.Pins, err = smallstate.Bucket{Store: h.store.State, Name: policy.PinsBucket(r.Name)}.Values(ctx)
	case r.Action == UpstreamAccept:
		reply.Accepted, err = h.upstreams.Accept(r.Name, r.Tool, "")
	default:
		warning, err = h.upstreams.change(r)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	if warning != nil {
		reply.Warning = warning.Error()
	}
	return reply
}

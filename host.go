package beam

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web"
)

// A host is the process that owns a data folder, to those that join it at the
// folder's socket.
type host struct {
	*running
	store *folder
	pages *pages
	over  context.CancelFunc // ends what joiners want
}

// What joiners want.
const (
	wantStdio  = "stdio"  // an MCP client to be served
	wantPrune  = "prune"  // finished runs to be deleted
	wantBackup = "backup" // an archive
	wantOpen   = "open"   // an address to sign in at
)

// What an owner may be, after the name of its program.
const (
	commandServe = " serve"
	commandStdio = " stdio"
)

// hostMoment is how long sessions of joiners may take to end, once they were
// told: what ServeStdio grants the requests that are under way.
const hostMoment = 1200 * time.Millisecond

// receive serves, from now on, who joins at the folder's socket. A temporary
// folder has none.
func (b *running) receive(ctx context.Context, store *folder, command, root string, p *pages) {
	if store.socket == nil {
		return
	}
	ctx, over := context.WithCancel(context.WithoutCancel(ctx)) // they drain with the rest
	h := &host{running: b, store: store, pages: p, over: over}
	b.host = h
	owner := func() joint.Owner {
		return joint.Owner{PID: os.Getpid(), Version: version(), Command: command, Pages: p.known(), Root: root}
	}
	handlers := map[string]joint.Handler{wantStdio: h.stdio, wantPrune: h.prune, wantBackup: h.backup, wantOpen: h.open}
	go store.socket.Serve(ctx, owner, handlers, b.logger)
}

// stop takes no more joiners.
func (h *host) stop() {
	if h != nil {
		h.warn(h.store.socket.Stop())
	}
}

// dismiss tells those that joined that it is over.
func (h *host) dismiss() {
	if h != nil {
		h.stop()
		h.over()
	}
}

// close ends what is left of those that joined, after a moment.
func (h *host) close(moment time.Duration) {
	if h != nil {
		h.over()
		h.warn(h.store.socket.Close(moment))
	}
}

func (h *host) warn(err error) {
	if err != nil {
		h.logger.Warn("closing the socket in the data folder", "err", err)
	}
}

// joining is what an MCP client's process says of itself.
type joining struct {
	// Photons are digests of the photons that it would serve itself, by name.
	Photons map[string]string `json:"photons"`
}

// stdio serves an MCP client whose process joined.
func (h *host) stdio(ctx context.Context, r *joint.Request) {
	var j joining
	if err := json.Unmarshal(r.Args, &j); err != nil {
		r.Refuse(joint.Refusef(joint.Failed, "what it was told of the photons can't be read"))
		return
	}
	if lacks := lacking(fingerprints(h.photons), j.Photons); lacks != nil {
		r.Refuse(joint.Refusef(joint.Unfit, "it doesn't offer %s as this program does", enumerate(lacks)))
		return
	}
	select {
	case <-h.engine.Closing():
		r.Refuse(joint.Refusef(joint.Busy, "it is ending"))
		return
	default:
	}
	if r.Accept() != nil {
		return
	}
	out := &sidelined{w: r}
	err := h.mcp.ServeJoined(ctx, r, out, run.Caller{web.Operator}, h.pages.inviting(out.invite))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		h.logger.Debug("an MCP client that joined has gone", "err", err)
	}
}

// enumerate names some things, and counts the rest.
func enumerate(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + plural(more, "other", "others")
	}
	return strings.Join(names, ", ")
}

// A sidelined writer is an MCP client's stream, with room for lines to the
// process that hands it on. Each write must be of whole lines.
type sidelined struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sidelined) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// An invitation is an address that signs a browser in where questions wait.
type invitation struct {
	Page string `json:"page"`
}

// invite has the joiner show an address. It doesn't wait for it.
func (s *sidelined) invite(address string) {
	line, err := json.Marshal(invitation{address})
	if err != nil {
		return // a string always encodes
	}
	go s.Write(append(append([]byte{mcp.AsideMark}, line...), '\n')) // a joiner that is gone needs no page
}

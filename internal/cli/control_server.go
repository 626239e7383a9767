package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/web"
)

// A controlServer is the process that owns a data folder, to those that join it at the
// folder's socket.
type controlServer struct {
	*app
	folder         *dataFolder
	pages          *pageServer
	cancelSessions context.CancelFunc // ends what joiners want
}

// What joiners want.
const (
	requestStdio  = "stdio"  // an MCP client to be served
	requestPrune  = "prune"  // finished runs to be deleted
	requestBackup = "backup" // an archive
	requestOpen   = "open"   // an address to sign in at
)

// What an owner may be, after the name of its program.
const (
	serveSuffix = " serve"
	stdioSuffix = " stdio"
)

// sessionCloseTimeout is how long sessions of joiners may take to end, once they were
// told: what ServeStdio grants the requests that are under way.
const sessionCloseTimeout = 1200 * time.Millisecond

// serveControlSocket serves, from now on, who joins at the folder's socket. A temporary
// folder has none.
func (b *app) serveControlSocket(ctx context.Context, store *dataFolder, command, root string, p *pageServer) {
	if store.socket == nil {
		return
	}
	ctx, over := context.WithCancel(context.WithoutCancel(ctx)) // they drain with the rest
	h := &controlServer{app: b, folder: store, pages: p, cancelSessions: over}
	b.control = h
	owner := func() controlsocket.Owner {
		return controlsocket.Owner{PID: os.Getpid(), Version: version(), Command: command, Pages: p.knownBaseURL(), Root: root}
	}
	handlers := map[string]controlsocket.Handler{requestStdio: h.handleStdio, requestPrune: h.handlePrune, requestBackup: h.handleBackup, requestOpen: h.handleOpen}
	go store.socket.Serve(ctx, owner, handlers, b.logger)
}

// stopAccepting takes no more joiners.
func (h *controlServer) stopAccepting() {
	if h != nil {
		h.logCloseError(h.folder.socket.StopAccepting())
	}
}

// endSessions tells those that joined that it is over.
func (h *controlServer) endSessions() {
	if h != nil {
		h.stopAccepting()
		h.cancelSessions()
	}
}

// close ends what is left of those that joined, after a moment.
func (h *controlServer) close(moment time.Duration) {
	if h != nil {
		h.cancelSessions()
		h.logCloseError(h.folder.socket.Close(moment))
	}
}

func (h *controlServer) logCloseError(err error) {
	if err != nil {
		h.logger.Warn("closing the socket in the data folder", "err", err)
	}
}

// stdioRequest is what an MCP client's process says of itself.
type stdioRequest struct {
	// Photons are digests of the photons that it would serve itself, by name.
	Photons map[string]string `json:"photons"`
}

// handleStdio serves an MCP client whose process joined.
func (h *controlServer) handleStdio(ctx context.Context, r *controlsocket.Request) {
	var j stdioRequest
	if err := json.Unmarshal(r.Args, &j); err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "what it was told of the photons can't be read"))
		return
	}
	if lacks := missingPhotons(photonFingerprints(h.photons), j.Photons); lacks != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Unsupported, "it doesn't offer %s as this program does", listNames(lacks)))
		return
	}
	select {
	case <-h.engine.Closing():
		r.Refuse(controlsocket.Refusef(controlsocket.Busy, "it is ending"))
		return
	default:
	}
	if r.Accept() != nil {
		return
	}
	out := &noticeWriter{w: r}
	err := h.mcp.ServeProxied(ctx, r, out, engine.Caller{web.Operator}, h.pages.baseURLFunc(out.sendSignInLink))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		h.logger.Debug("an MCP client that joined has gone", "err", err)
	}
}

// listNames names some things, and counts the rest.
func listNames(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + plural(more, "other", "others")
	}
	return strings.Join(names, ", ")
}

// A noticeWriter writer is an MCP client's stream, with room for lines to the
// process that hands it on. Each write must be of whole lines.
type noticeWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *noticeWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// A signInLink is an address that signs a browser in where questions wait.
type signInLink struct {
	Page string `json:"page"`
}

// sendSignInLink has the joiner show an address. It doesn't wait for it.
func (s *noticeWriter) sendSignInLink(address string) {
	line, err := json.Marshal(signInLink{address})
	if err != nil {
		return // a string always encodes
	}
	go s.Write(append(append([]byte{mcp.NoticePrefix}, line...), '\n')) // a joiner that is gone needs no page
}

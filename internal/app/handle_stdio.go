package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/proxy"
	"github.com/photon-beam/beam/internal/registry"
)

// A StdioRequest is the argument of [RequestStdio]. It describes the photons that
// the MCP client's process would serve itself.
type StdioRequest struct {
	// Photons are fingerprints of the process's photons, by name.
	Photons map[string]string `json:"photons"`
	// Upstream is the only upstream to serve; empty for all photons.
	Upstream string `json:"upstream,omitempty"`
}

// NewStdioRequest returns the request of a process that has the given photons, or that
// wants the only upstream, if that is not empty.
func NewStdioRequest(photons *registry.Registry, only string) StdioRequest {
	if only != "" {
		return StdioRequest{Upstream: only}
	}
	return StdioRequest{Photons: photonFingerprints(photons)}
}

// handleStdio serves an MCP client of another process. It refuses if the app's
// photons differ from that process's.
func (h *controlServer) handleStdio(ctx context.Context, r *controlsocket.Request) {
	var request StdioRequest
	if err := json.Unmarshal(r.Args, &request); err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "it can't read the list of photons"))
		return
	}
	if missing := missingPhotons(photonFingerprints(h.photons), request.Photons); missing != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Unsupported, "it doesn't offer %s as this program does", listNames(missing)))
		return
	}
	server, err := h.stdioServer(request.Upstream)
	if err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Unsupported, "it has no upstream %q", request.Upstream))
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
	err = server.ServeProxied(ctx, r, out, callers.Operator(), h.pages.BaseURLFunc(out.sendSignInLink))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		h.logger.Debug("the session of an MCP client in another process ended", "err", err)
	}
}

// listNames lists the first few names and counts the rest.
func listNames(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + humanize.Count(more, "other")
	}
	return strings.Join(names, ", ")
}

// A noticeWriter writes an MCP client's messages to the process that proxies
// them, interleaved with notices to that process. Each write must consist of
// complete lines. It is safe for concurrent use.
type noticeWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (n *noticeWriter) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.w.Write(p)
}

// A SignInLink is a notice: the process shows the user an address that signs a
// browser in.
type SignInLink struct {
	Address string `json:"page"`
}

// sendSignInLink sends a SignInLink, without waiting until it is written.
func (n *noticeWriter) sendSignInLink(address string) {
	line, err := json.Marshal(SignInLink{address})
	if err != nil {
		return // a string always encodes
	}
	go n.Write(append(append([]byte{proxy.NoticePrefix}, line...), '\n')) // a process that has gone needs no link
}

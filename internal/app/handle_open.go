package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/controlsocket"
)

// handleOpen writes an address that signs a browser in, and starts to serve the
// pages if need be.
func (h *controlServer) handleOpen(_ context.Context, r *controlsocket.Request) {
	if !h.signsIn {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "people sign in with its program, not with Beam"))
		return
	}
	base, err := h.pages.ensureBaseURL()
	if errors.Is(err, errNoPages) {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "%v", err))
		return
	}
	if err != nil {
		h.logger.Error("serving the pages", "err", err)
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "it can't serve its pages; its log says why"))
		return
	}
	h.removeRedirectsLater() // that the client may write
	if r.Accept() == nil {
		fmt.Fprintln(r, h.web.SignInURL(base))
	}
}

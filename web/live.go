package web

import (
	"net/http"

	"github.com/photon-beam/beam/internal/run"
)

func (s *Server) updates(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	return errNoPage
}

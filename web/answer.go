package web

import (
	"net/http"
	"strings"

	"github.com/photon-beam/beam/internal/engine"
)

// handleAnswer records an answer: a JSON-RPC response to a question from a stream, or the
// form that a page posts.
func (s *Server) handleAnswer(w http.ResponseWriter, r *http.Request, caller engine.Caller) error {
	switch mediaType(r) {
	case jsonType:
		return s.handleRPCAnswer(w, r, caller)
	case formType, multipartType:
		return s.handleFormAnswer(w, r, caller)
	}
	err := unsupportedMediaType(r, jsonType+", "+formType+" or "+multipartType)
	if strings.HasSuffix(mediaType(r), "json") || wantsJSON(r) {
		s.writeRPCError(w, r, nil, err)
		return nil
	}
	return err
}

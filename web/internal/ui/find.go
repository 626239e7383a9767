package ui

import (
	"cmp"
	"strings"

	"github.com/photon-beam/beam/internal/engine"
)

// A Hit is something that a search has found.
type Hit struct {
	Kind   string `json:"kind"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"` // what tells it apart
	URL    string `json:"url"`
}

// NewAskHit returns an open question as a hit.
func NewAskHit(o engine.OpenAsk, url string) Hit {
	return Hit{"Question", questionText(o), o.Asker(), url}
}

// NewRunHit returns a run as a hit.
func NewRunHit(r RunLine, url string) Hit {
	detail := []string{shortID(r.ID), stateName(r.State, r.Reason), formatAgo(r.Started)}
	if r.Input != "" {
		detail = append(detail, r.Input)
	}
	return Hit{"Run", cmp.Or(r.Title, r.Photon), strings.Join(detail, " · "), url}
}

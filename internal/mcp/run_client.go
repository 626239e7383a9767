package mcp

import (
	"github.com/photon-beam/beam/internal/clientsession"
)

// runClient returns what the call's run may know of its client. With [AskPolicy.Link],
// whatever the client can't be asked is asked elsewhere; without it, nobody else is asked.
func (c *call) runClient() *clientsession.Client {
	if c.server.askPolicy.Link {
		return c.session.runClient
	}
	mirrored := clientsession.Client{Only: &clientsession.Abilities{
		Forms: c.client.SupportsForms(), URLs: c.client.SupportsURLs(), Roots: c.client.SupportsRoots(),
		Sampling: c.client.SupportsSampling(), SamplingTools: c.client.SupportsSamplingTools(),
	}}
	if known := c.session.runClient; known != nil {
		mirrored.Session, mirrored.Ended = known.Session, known.Ended
	}
	if !c.isTask && !c.client.IsModern() { // others come back whenever they want
		mirrored.Presence = &c.presence
	}
	return &mirrored
}

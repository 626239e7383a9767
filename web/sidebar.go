package web

import (
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxSidebarTools is how many tools of one upstream the sidebar lists. The first page has
// all.
const maxSidebarTools = 50

// addPhotons adds photons, which are sorted by group, to the sidebar: Beam's own in one
// list, and the tools of each upstream in a group.
func addPhotons(c *ui.Chrome, photons []*generators.Photon, current string) {
	for _, p := range photons {
		link := ui.PhotonLink{Name: p.Name(), Title: p.Title(), Current: p.Name() == current}
		server := upstreamOf(p)
		if server == "" {
			c.Photons = append(c.Photons, link)
			continue
		}
		if p.Options().Title == "" { // the group says the rest of the name
			link.Title = strings.TrimPrefix(p.Name(), server+"__")
		}
		i := slices.IndexFunc(c.Servers, func(s ui.ServerTools) bool { return s.Name == server })
		if i < 0 {
			i = len(c.Servers)
			c.Servers = append(c.Servers, ui.ServerTools{Name: server})
		}
		g := &c.Servers[i]
		g.Count++
		g.HasCurrent = g.HasCurrent || link.Current
		if len(g.Tools) < maxSidebarTools || link.Current {
			g.Tools = append(g.Tools, link)
		}
	}
}

package lists

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/ui"
)

// How many photons the sidebar lists: of one upstream, and of all; and of Beam's own. The
// first page has all.
const (
	maxSidebarTools = 50
	maxServersTools = 100
	maxOwnPhotons   = 100
)

// A PhotonList is the photons that a caller may use, as pages list them. Making it costs
// too much for every page if there are thousands. It isn't changed once it is made.
type PhotonList struct {
	ByName  []*generators.Photon
	Sorted  []*generators.Photon // by group, of which none comes first, and by title
	own     []ui.PhotonLink      // Beam's, in the sidebar
	servers []ui.ServerTools     // the tools of each upstream, in the sidebar
}

// Photons lists the photons of callers. It is safe for concurrent use.
type Photons struct {
	engine *engine.Engine
	last   atomic.Pointer[PhotonList] // the one made last
}

// NewPhotons returns the lists of an engine's photons.
func NewPhotons(e *engine.Engine) *Photons { return &Photons{engine: e} }

// Of returns the photons that the caller may use.
func (l *Photons) Of(caller generators.Caller) *PhotonList {
	all := l.engine.Photons(caller)
	if last := l.last.Load(); last != nil && slices.Equal(last.ByName, all) {
		return last
	}
	list := newPhotonList(all)
	l.last.Store(list)
	return list
}

func newPhotonList(all []*generators.Photon) *PhotonList {
	l := &PhotonList{ByName: all, Sorted: slices.Clone(all)}
	keys := make(map[*generators.Photon]string, len(all))
	for _, p := range all {
		keys[p] = p.Options().Group + "\x00" + strings.ToLower(p.Title())
	}
	slices.SortStableFunc(l.Sorted, func(a, b *generators.Photon) int { return strings.Compare(keys[a], keys[b]) })
	listed := 0
	for _, p := range l.Sorted {
		server := UpstreamOf(p)
		if server == "" {
			l.own = append(l.own, sidebarLink(p))
			continue
		}
		g := l.serverNamed(server)
		if g.Count++; len(g.Tools) < maxSidebarTools && listed < maxServersTools {
			g.Tools = append(g.Tools, sidebarLink(p))
			listed++
		}
	}
	return l
}

// HasServer reports whether some of the photons are tools of an upstream.
func (l *PhotonList) HasServer(name string) bool {
	return slices.ContainsFunc(l.servers, func(s ui.ServerTools) bool { return s.Name == name })
}

// serverNamed returns the group of an upstream's tools, which it adds if there is none.
func (l *PhotonList) serverNamed(server string) *ui.ServerTools {
	i := slices.IndexFunc(l.servers, func(s ui.ServerTools) bool { return s.Name == server })
	if i < 0 {
		i = len(l.servers)
		l.servers = append(l.servers, ui.ServerTools{Name: server})
	}
	return &l.servers[i]
}

// sidebarLink returns a photon's link. The group of an upstream's tool says the rest of its
// name.
func sidebarLink(p *generators.Photon) ui.PhotonLink {
	link := ui.PhotonLink{Name: p.Name(), Title: p.Title()}
	if server := UpstreamOf(p); server != "" && p.Options().Title == "" {
		link.Title = strings.TrimPrefix(p.Name(), server+"__")
	}
	return link
}

// AddTo adds the photons to the sidebar: Beam's own in one list, and the tools of each
// upstream in a group. The current photon, whose page it is, is always among them.
func (l *PhotonList) AddTo(c *ui.Chrome, current string) {
	c.Photons, c.Servers = l.own[:min(len(l.own), maxOwnPhotons)], l.servers
	if len(l.own) > maxOwnPhotons {
		c.AllPhotons = len(l.own)
	}
	i := slices.IndexFunc(l.ByName, func(p *generators.Photon) bool { return p.Name() == current })
	if i < 0 {
		return
	}
	p := l.ByName[i]
	if server := UpstreamOf(p); server != "" {
		c.Servers = slices.Clone(l.servers)
		g := &c.Servers[slices.IndexFunc(c.Servers, func(s ui.ServerTools) bool { return s.Name == server })]
		g.Tools, g.HasCurrent = withCurrent(g.Tools, p), true
		return
	}
	c.Photons = withCurrent(c.Photons, p)
}

// withCurrent returns the links with that of the current photon, which it adds if it is
// missing.
func withCurrent(links []ui.PhotonLink, p *generators.Photon) []ui.PhotonLink {
	links = slices.Clone(links)
	i := slices.IndexFunc(links, func(l ui.PhotonLink) bool { return l.Name == p.Name() })
	if i < 0 {
		i = len(links)
		links = append(links, sidebarLink(p))
	}
	links[i].Current = true
	return links
}

// UpstreamOf returns the MCP server whose tool a photon calls; empty for Beam's own.
func UpstreamOf(p *generators.Photon) string {
	if p.Options().Definition == nil {
		return ""
	}
	return p.Options().Group // as package catalogue makes them
}

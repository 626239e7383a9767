package ui

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
)

// A ConnectPage says how MCP clients reach a photon.
type ConnectPage struct {
	PhotonPage
	Query      string // the arguments that the address has
	ServesMCP  bool
	Program    string // the command; empty if clients can't start it
	Clients    []ClientEntry
	Address    string // of the MCP endpoint
	NeedsToken bool
	Connected  []ConnectedClient
}

// A ClientEntry is what a client's configuration is to have.
type ClientEntry struct {
	Name, Title, Location, Document string
	IsWritten                       bool // a command writes it
}

// A ConnectedClient is an MCP client with a session.
type ConnectedClient struct {
	Name      string // and version
	Transport string
	OpenAsks  int // of runs that it started
}

func (c ConnectedClient) details() string {
	if c.OpenAsks == 0 {
		return c.Transport
	}
	return c.Transport + ", " + humanize.CountOf(c.OpenAsks, "question open", "questions open")
}

// An APIPage says how programs call a photon.
type APIPage struct {
	PhotonPage
	Query                 string // the arguments that the address has
	Start, Follow, Answer string // commands
	OwnSignIn             bool   // the program signs people in itself
	Input, Output         json.RawMessage
	Findings              []string // what clients may reject
}

// withQuery returns a URL with a query, which it encodes anew.
func withQuery(u string, query string) string {
	values, _ := url.ParseQuery(query) // what can't be parsed is left out
	if len(values) == 0 {
		return u
	}
	return u + "?" + values.Encode()
}

func indentJSON(raw []byte) string { return strings.TrimSpace(form.Indent(raw)) }

// currentPage returns the attributes of a link to the page that is shown, or none.
func currentPage(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

package photons

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/portability"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Connect renders how MCP clients reach a photon: with this program's path, and with this
// server's address.
func (h *Handlers) Connect(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := h.lookup(r, caller)
	if err != nil {
		return err
	}
	page := ui.ConnectPage{PhotonPage: newPhotonPage(p), Query: filledIn(p, r), ServesMCP: h.Clients != nil}
	page.Address = links.Base(h.Site.BaseURL(r)).MCP()
	page.NeedsToken = !h.Callers.OwnSignIn && h.Callers.RequiresSignIn
	if h.Program.Command != "" && h.mayOperate(caller) {
		page.Program = h.Program.Name
		for _, name := range connect.Names() {
			c, err := connect.Find(name)
			if err != nil {
				return err
			}
			page.Clients = append(page.Clients, ui.ClientEntry{Name: c.Name, Title: c.Title, Location: c.Location(), Document: string(c.Document(h.Program)), IsWritten: c.UserFile != ""})
		}
	}
	if h.Clients != nil {
		page.Connected = ConnectedClients(h.Clients, caller)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Connect(h.Pages.Chrome(r, caller, p.Title()), page))
}

// Clients are the MCP clients that are connected.
type Clients interface {
	// EachClient calls add with each client of the caller's: its name, how it is connected, and
	// how many questions it has yet to answer.
	EachClient(caller generators.Caller, add func(name, transport string, awaited int))
}

// maxListedClients is how many connected clients a page lists.
const maxListedClients = 100

// ConnectedClients returns the MCP clients of the caller's that are connected.
func ConnectedClients(c Clients, caller generators.Caller) (list []ui.ConnectedClient) {
	c.EachClient(caller, func(name, transport string, awaited int) {
		if len(list) < maxListedClients {
			list = append(list, ui.ConnectedClient{Name: name, Transport: transport, OpenAsks: awaited})
		}
	})
	slices.SortFunc(list, func(a, b ui.ConnectedClient) int {
		return cmp.Or(cmp.Compare(b.OpenAsks, a.OpenAsks), strings.Compare(a.Name, b.Name))
	})
	return list
}

// mayOperate reports whether the caller may know where this program is on its machine.
func (h *Handlers) mayOperate(caller generators.Caller) bool {
	return h.Callers.LocalOnly() || caller.HasRole(generators.RoleOperator)
}

// ShowAPI renders how programs call a photon, with the arguments that the query has.
func (h *Handlers) ShowAPI(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := h.lookup(r, caller)
	if err != nil {
		return err
	}
	args := form.ForPhoton(p).Link(r.URL.Query()).WithoutSecrets()
	base := links.Base(h.Site.BaseURL(r))
	authorization := " -c jar -b jar"
	switch {
	case h.Callers.OwnSignIn:
		authorization = ""
	case h.Callers.RequiresSignIn:
		authorization = ` -H "Authorization: Bearer $BEAM_TOKEN"`
	}
	page := ui.APIPage{PhotonPage: newPhotonPage(p), Query: filledIn(p, r), OwnSignIn: h.Callers.OwnSignIn}
	page.Start = "curl -s" + authorization + " -H 'Content-Type: application/json' \\\n     -d " + quoteForShell(string(args)) + " \\\n     " + quoteForShell(base.StartRun(p.Name()))
	page.Follow = "curl -sN" + authorization + " " + quoteForShell(base.RunEvents("RUN"))
	page.Answer = "curl -s" + authorization + " -H 'Content-Type: application/json' \\\n     -d " +
		quoteForShell(`{"jsonrpc":"2.0","id":"ASK","result":{"action":"accept","content":{"FIELD":"VALUE"}}}`) + " \\\n     " + quoteForShell(string(base)+"/mcp/request")
	described, err := json.Marshal(newPhotonJSON(p))
	if err != nil {
		return err
	}
	var schemas struct {
		Input  json.RawMessage `json:"inputSchema"`
		Output json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(described, &schemas); err != nil {
		return err
	}
	page.Input, page.Output = schemas.Input, schemas.Output
	page.Findings = append(lintSchema("inputSchema", schemas.Input), lintSchema("outputSchema", schemas.Output)...)
	return h.Pages.Render(w, r, http.StatusOK, ui.API(h.Pages.Chrome(r, caller, p.Title()), page))
}

// maxFindings is how many findings a page lists.
const maxFindings = 50

// lintSchema returns what MCP clients may reject in a schema.
func lintSchema(name string, raw json.RawMessage) []string {
	var schema any
	if len(raw) == 0 || json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	found := portability.Lint(name, schema)
	return found[:min(len(found), maxFindings)]
}

// quoteForShell quotes a text for a POSIX shell.
func quoteForShell(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

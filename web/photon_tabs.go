package web

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

// handleConnect renders how MCP clients reach a photon: with this program's path, and with this
// server's address.
func (s *Server) handleConnect(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := s.lookupPhoton(r, caller)
	if err != nil {
		return err
	}
	page := ui.ConnectPage{PhotonPage: newPhotonPage(p), Query: filledIn(p, r), ServesMCP: s.mcpHandler != nil}
	page.Address = links.Base(s.baseURL(r)).MCP()
	page.NeedsToken = s.identifier == nil && s.requiresSignIn
	if s.program.Command != "" && s.mayOperate(caller) {
		page.Program = s.program.Name
		for _, name := range connect.Names() {
			c, err := connect.Find(name)
			if err != nil {
				return err
			}
			page.Clients = append(page.Clients, ui.ClientEntry{Name: c.Name, Title: c.Title, Location: c.Location(), Document: string(c.Document(s.program)), IsWritten: c.UserFile != ""})
		}
	}
	if s.mcpHandler != nil {
		page.Connected = s.connectedClients(caller)
	}
	return s.render(w, r, http.StatusOK, ui.Connect(s.newChrome(r, caller, p.Title()), page))
}

// maxListedClients is how many connected clients a page lists.
const maxListedClients = 100

// connectedClients returns the MCP clients of the caller's that are connected.
func (s *Server) connectedClients(caller generators.Caller) (list []ui.ConnectedClient) {
	s.mcpHandler.EachClient(caller, func(name, transport string, awaited int) {
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
func (s *Server) mayOperate(caller generators.Caller) bool {
	return s.localOnly || caller.HasRole(generators.RoleOperator)
}

// handleAPI renders how programs call a photon, with the arguments that the query has.
func (s *Server) handleAPI(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := s.lookupPhoton(r, caller)
	if err != nil {
		return err
	}
	args := form.ForPhoton(p).Link(r.URL.Query()).WithoutSecrets()
	base := links.Base(s.baseURL(r))
	authorization := " -c jar -b jar"
	switch {
	case s.identifier != nil:
		authorization = ""
	case s.requiresSignIn:
		authorization = ` -H "Authorization: Bearer $BEAM_TOKEN"`
	}
	page := ui.APIPage{PhotonPage: newPhotonPage(p), Query: filledIn(p, r), OwnSignIn: s.identifier != nil}
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
	return s.render(w, r, http.StatusOK, ui.API(s.newChrome(r, caller, p.Title()), page))
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

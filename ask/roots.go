package ask

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// A Root is a folder or file that a tool may work in (MCP 2025-11-25, Client
// Features, Roots).
type Root struct {
	URI  string `json:"uri"` // begins with file://
	Name string `json:"name,omitempty"`
}

// Roots asks which folders the tool may work in. An MCP client answers with its
// roots, a person with one path per line. The list may be empty.
func Roots(yield generators.Yield, key string, opts ...Option) ([]Root, error) {
	return ForRoots(key, opts...).Ask(yield)
}

// ForRoots returns the prompt of [Roots].
func ForRoots(key string, opts ...Option) *Prompt[[]Root] {
	p := &Prompt[[]Root]{key: key, question: &askdata.Question{
		Kind: askdata.KindRoots, Message: "Which folders may the tool work in?",
		Fields: askdata.Fields{{
			Name: askdata.RootsField, Title: "Folders", Description: "One per line: an absolute path such as /home/ada/project, or a file:// address.",
			Type: "string", Format: askdata.FormatLong, Required: true, MaxLength: 100_000,
		}},
	}}
	p.err = p.applyOptions(opts)
	p.decode = func(r driver.Reply) ([]Root, error) {
		list, err := decodeAs[listRootsResult](r.Value)
		return list.Roots, err
	}
	return p
}

// listRootsResult is MCP's ListRootsResult.
type listRootsResult struct {
	Roots []Root `json:"roots"`
}

package message

import (
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
)

// Asker says whose question that of a tool is, with the names that Beam gives them and not
// those that they give themselves: "The tool create_issue of the server github". Tool is the
// name under which Beam offers it: those of other servers are SERVER__TOOL.
func Asker(tool string) string {
	if server, own, ok := strings.Cut(tool, "__"); ok && server != "" {
		return "The tool " + own + " of the server " + server
	}
	return "The tool " + tool
}

// IsForeign reports whether a tool is that of another server.
func IsForeign(tool string) bool {
	server, _, ok := strings.Cut(tool, "__")
	return ok && server != ""
}

// TitleOf returns what a text of Beam calls a photon: by its own title, unless it is the tool
// of another server, which could call itself Beam.
func TitleOf(p *generators.Photon) string {
	if IsForeign(p.Name()) {
		return Asker(p.Name())
	}
	return p.Title()
}

// SaidBy returns the text of a question so that nobody takes it for Beam's own, whose lines
// surround it: what another server asks, what has several lines or a code fence, and what
// speaks of Beam is quoted below who asks it. A plain line of a photon stays as it is.
func SaidBy(tool, text string) string {
	text = cleantext.Text(text)
	needsQuotes := strings.Contains(cleantext.Skeleton(text), "beam") || strings.Contains(text, "\n") || strings.Contains(text, "```") || strings.Contains(text, "~~~")
	if !IsForeign(tool) && !needsQuotes {
		return text
	}
	return Asker(tool) + " asks:\n> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
}

// LineSaidBy is [SaidBy] for a place in a line.
func LineSaidBy(tool, text string) string {
	if !IsForeign(tool) {
		return cleantext.Line(text)
	}
	return Asker(tool) + " asks: “" + cleantext.Line(text) + "”"
}

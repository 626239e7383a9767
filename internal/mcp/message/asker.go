package message

import (
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runlog"
)

// ServerOf returns the server whose tool a photon is, as package catalogue makes them. It
// reports false for another photon, whatever its name is.
func ServerOf(p *generators.Photon) (server string, ok bool) {
	o := p.Options()
	return o.Group, o.Definition != nil
}

// TitleOf returns what a text of Beam calls a photon: by its own title, unless it is the tool
// of another server, which could call itself Beam.
func TitleOf(p *generators.Photon) string {
	if server, ok := ServerOf(p); ok {
		return runlog.Asker(&askdata.Question{Server: server, Tool: p.Name()}, p.Name())
	}
	return cleantext.Line(p.Title())
}

// SaidBy returns the text of a question so that nobody takes it for Beam's own, whose lines
// surround it: what another server asks, what has several lines or a code fence, and what
// speaks of Beam is quoted below who asks it. A plain line of a photon stays as it is. Photon
// is the one whose run asks.
func SaidBy(q *askdata.Question, photon string) string {
	text := cleantext.Text(q.Message)
	needsQuotes := strings.Contains(cleantext.Skeleton(text), "beam") || strings.Contains(text, "\n") || strings.Contains(text, "```") || strings.Contains(text, "~~~")
	if q.Server == "" && !needsQuotes {
		return text
	}
	text = runlog.Asker(q, photon) + " asks:\n> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
	if q.Note != "" {
		text += "\n\n" + q.Note
	}
	return text
}

// innerQuotes replaces the quotation marks in a text that could end the quotation.
var innerQuotes = strings.NewReplacer("“", "\"", "”", "\"")

// LineSaidBy is [SaidBy] for a place in a line, without Beam's note.
func LineSaidBy(q *askdata.Question, photon string) string {
	text := cleantext.Line(q.Message)
	if q.Server == "" {
		return text
	}
	return runlog.Asker(q, photon) + " asks: “" + innerQuotes.Replace(text) + "”"
}

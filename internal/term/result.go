package term

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runlog"
)

// RenderResult returns a run's result for a person at a terminal.
func RenderResult(t *Terminal, f *runlog.Finished) string {
	r := &artifacts{style: styles(t.Color), width: max(t.Width(), 10)}
	var text string
	isText := json.Unmarshal(f.Result, &text) == nil
	switch {
	case string(f.Result) == "null":
		return ""
	case isText && f.MediaType == generators.MarkdownType:
		text = r.markdown(cleantext.Text(text))
	case isText:
		text = cleantext.Text(text)
	default:
		text = r.json(f.Result)
	}
	return strings.TrimRight(text, "\n") + "\n"
}

package timeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Model is the call of a model for a question.
type Model struct {
	Approval runlog.Approval
	// ChangedBy is what people call who changed the request, as Ask.Person.
	ChangedBy string
	Notices   []string
	End       *runlog.EndOfSampling // nil while the model replies
}

// isEdited reports whether an answer is the reply of a model that a person changed.
func isEdited(a askdata.Answer) bool {
	var r ask.SampleResult
	return json.Unmarshal(a.Content, &r) == nil && r.Edited
}

// samplingValues returns the text of a model's answer. It names blocks that are not text.
func samplingValues(content json.RawMessage) []Value {
	var r ask.SampleResult
	if json.Unmarshal(content, &r) != nil {
		return nil
	}
	blocks, err := r.Blocks()
	if err != nil {
		return nil
	}
	return []Value{{Label: humanize.TruncateBytes(r.Model, maxValueLength, " …"), Text: humanize.TruncateBytes(BlocksText(blocks), maxValueLength, " …")}}
}

// BlocksText returns the text of a message's blocks, with a description in brackets for
// each block that is not text.
func BlocksText(blocks []ask.SampleBlock) string {
	var parts []string
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case askdata.BlockText:
			parts = append(parts, b.Text)
		case askdata.BlockImage:
			parts = append(parts, fmt.Sprintf("[image, %s, %s]", b.MIMEType, humanize.Bytes(int64(len(b.Data)))))
		case askdata.BlockAudio:
			parts = append(parts, fmt.Sprintf("[audio, %s, %s]", b.MIMEType, humanize.Bytes(int64(len(b.Data)))))
		case askdata.BlockToolUse:
			parts = append(parts, fmt.Sprintf("[tool call %s: %s]", b.Name, b.Input))
		case askdata.BlockToolResult:
			parts = append(parts, fmt.Sprintf("[tool result: %s]", b.Content))
		default:
			parts = append(parts, fmt.Sprintf("[block of type %s]", b.Type))
		}
	}
	return strings.Join(parts, "\n")
}

// rootsValues lists the roots in an answer.
func rootsValues(content json.RawMessage) []Value {
	var list struct{ Roots []ask.Root }
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	lines := make([]string, len(list.Roots))
	for i, r := range list.Roots {
		lines[i] = r.URI
	}
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	return []Value{{Label: "Folders", Text: humanize.TruncateBytes(strings.Join(lines, "\n"), maxValueLength, " …")}}
}

package timeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/ask"
)

// samplingValues says in words what a model answered. What is no text is named.
func samplingValues(content json.RawMessage) []Value {
	var r ask.SampleResult
	if json.Unmarshal(content, &r) != nil {
		return nil
	}
	blocks, err := r.Blocks()
	if err != nil {
		return nil
	}
	return []Value{{Label: truncate(r.Model, maxValueLength), Text: truncate(BlocksText(blocks), maxValueLength)}}
}

// BlocksText is what the blocks of a message say, for people: text as it is, and of
// anything else what it is.
func BlocksText(blocks []ask.SampleBlock) string {
	var parts []string
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case ask.BlockText:
			parts = append(parts, b.Text)
		case ask.BlockImage:
			parts = append(parts, fmt.Sprintf("[a picture, %s, %s]", b.MIMEType, FormatBytes(int64(len(b.Data)))))
		case ask.BlockAudio:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %s]", b.MIMEType, FormatBytes(int64(len(b.Data)))))
		case ask.BlockToolUse:
			parts = append(parts, fmt.Sprintf("[uses the tool %s: %s]", b.Name, b.Input))
		case ask.BlockToolResult:
			parts = append(parts, fmt.Sprintf("[what the tool gave: %s]", b.Content))
		default:
			parts = append(parts, fmt.Sprintf("[a block of the type %s]", b.Type))
		}
	}
	return strings.Join(parts, "\n")
}

// rootsValues lists folders that were named.
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
	return []Value{{Label: "Folders", Text: truncate(strings.Join(lines, "\n"), maxValueLength)}}
}

package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/ask"
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

// applySampling shows the call of a model, and its reply, as a row of its own.
func (r *Run) applySampling(e runlog.Entry, d runlog.Sampling) Change {
	asked := r.openAsks[d.AskSeq]
	if asked == nil || asked.Ask.Sampling == nil {
		return Change{}
	}
	a := asked.Ask
	text := a.Sampling.Apply(e.Time, d)
	if d.Approved != nil {
		if a.Question = a.asked; d.Approved.Request != nil {
			a.Question = runlog.Revise(a.asked, d.Approved.Request)
		}
		a.ChangedBy = ""
		if by := a.Sampling.ChangedBy; by != nil {
			a.ChangedBy = personOf(*by, r.Owner.ID)
		}
		a.reply = &Item{Seq: e.Seq, Time: e.Time, Kind: Reply, Ask: a, Reply: &Model{Approval: *d.Approved, ChangedBy: a.ChangedBy}}
		c := r.addItem(a.reply)
		c.AsksChanged, c.AlsoChanged = true, []*Item{asked}
		return c
	}
	i := a.reply
	switch {
	case i == nil:
		return Change{}
	case text != "":
		c := Change{Item: i, Appended: appendable(i.text, text), ReplyText: text}
		if c.AlsoChanged = r.appendChunkText(i, text); slices.Contains(c.AlsoChanged, i) {
			c.Appended = "" // its beginning was cut
		}
		return c
	case d.Ended != nil:
		i.Reply.End = d.Ended
	}
	i.Reply.Notices = a.Sampling.Notices
	return Change{Item: i, AsksChanged: true, AlsoChanged: []*Item{asked}}
}

// isEdited reports whether an answer is the reply of a model that a person changed.
func isEdited(a ask.Answer) bool {
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
		case ask.BlockText:
			parts = append(parts, b.Text)
		case ask.BlockImage:
			parts = append(parts, fmt.Sprintf("[image, %s, %s]", b.MIMEType, humanize.Bytes(int64(len(b.Data)))))
		case ask.BlockAudio:
			parts = append(parts, fmt.Sprintf("[audio, %s, %s]", b.MIMEType, humanize.Bytes(int64(len(b.Data)))))
		case ask.BlockToolUse:
			parts = append(parts, fmt.Sprintf("[tool call %s: %s]", b.Name, b.Input))
		case ask.BlockToolResult:
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

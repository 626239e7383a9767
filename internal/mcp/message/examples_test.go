package message_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compareGolden compares a text with a file of testdata.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v; go test -update rewrites it. Got\n%s", path, err, got)
	}
}

// untold are the kinds of entries of which even a client that knows Beam may get no message:
// what they say is Beam's own affair, or a later entry says it.
var untold = map[runlog.Kind]bool{
	runlog.KindStarted: true, runlog.KindClaimed: true, runlog.KindStepped: true, runlog.KindWoken: true, runlog.KindAdopted: true,
	runlog.KindSampling: true, // only its text, which comes with the answer
}

// exampleTranslators returns translators for clients of three versions, by name: one that knows
// Beam, a plain one, and one that can only show forms.
func exampleTranslators() map[string]*message.Translator {
	all := mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}, Sampling: &mcp.SamplingCapability{Tools: &struct{}{}},
		Roots: &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{},
	}
	beam := newTranslator(message.Client{Version: mcp.ProtocolVersion20251125, Capabilities: all, LogLevel: message.SeverityDebug}, source{})
	beam.Annotated, beam.ProgressToken = true, message.StringID("p")
	modern := newTranslator(message.Client{Version: mcp.ProtocolVersion20260728, Capabilities: all, LogLevel: message.SeverityInfo}, source{})
	forms := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}
	return map[string]*message.Translator{
		"beam": beam, "modern": modern,
		"forms": newTranslator(message.Client{Version: mcp.ProtocolVersion20250618, Capabilities: forms, LogLevel: message.SeverityInfo}, source{}),
	}
}

// Each entry of each example has a message, or is of a kind of which clients are told nothing.
func TestExamplesAsMessages(t *testing.T) {
	for name, translator := range exampleTranslators() {
		var text strings.Builder
		for _, x := range runlogtest.Examples() {
			fmt.Fprintf(&text, "# %s\n", x.Name)
			m := exampleMessages{t: translator}
			m.Rest = func(e runlog.Entry) (err error) {
				m.got, err = translator.Notification(&m.state, e)
				return err
			}
			for _, e := range x.Entries {
				m.got = nil
				if err := e.Visit(&m); err != nil {
					t.Errorf("%s: %s, entry %d: %v", name, x.Name, e.Seq, err)
				}
				if m.got == nil && !untold[e.Kind] && name == "beam" {
					t.Errorf("%s: %s, entry %d, of the kind %s, has no message", name, x.Name, e.Seq, e.Kind)
				}
				fmt.Fprintf(&text, "%s: %s\n", e.Kind, cmp.Or(string(m.got), "no message"))
			}
		}
		compareGolden(t, "examples-"+name+".txt", text.String())
	}
}

// Each kind of question has a request, or lacks a capability of the client.
func TestQuestionsAsRequests(t *testing.T) {
	for name, translator := range exampleTranslators() {
		var text strings.Builder
		for _, q := range runlogtest.Questions() {
			r, missing, err := translator.AskRequest(&runlog.Asked{Key: "key", Question: q}, "r.1")
			switch {
			case err != nil:
				t.Errorf("%s: %s: %v", name, q.Kind, err)
			case missing != nil:
				fmt.Fprintf(&text, "%s: %v\n", q.Kind, missing)
			default:
				fmt.Fprintf(&text, "%s: %s\n", q.Kind, message.Encode(message.Outgoing{Method: r.Method, Params: r.Params}))
			}
		}
		compareGolden(t, "questions-"+name+".txt", text.String())
	}
}

// exampleMessages gives the messages of entries, as the surfaces that follow a log do.
type exampleMessages struct {
	runlog.Rest
	t     *message.Translator
	state message.State
	got   []byte
}

func (m *exampleMessages) Asked(e runlog.Entry, _ runlog.Asked) (err error) {
	m.got, err = m.t.AskMessage(e)
	return err
}

func (m *exampleMessages) Answered(e runlog.Entry, _ runlog.Answered) error { return m.settled(e) }

func (m *exampleMessages) Withdrawn(e runlog.Entry, _ runlog.Withdrawn) error { return m.settled(e) }

func (m *exampleMessages) settled(e runlog.Entry) error {
	s, err := runlog.Decode[message.Settlement](e)
	m.got = message.EncodeCancelled(runlog.AskID(m.t.RunID, s.AskSeq), s.Describe())
	return err
}

func (m *exampleMessages) Finished(_ runlog.Entry, end runlog.Finished) error {
	r, err := m.t.Result(context.Background(), &m.state, end)
	m.got = message.EncodeResult(message.StringID(m.t.RunID), r)
	return err
}

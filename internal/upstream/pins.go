package upstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
)

// Pins remember which tools of one upstream an operator has accepted. A tool whose
// description, schemas or annotations change under the same name may do something
// else than people and models agreed to. Methods may be called from several
// goroutines.
type Pins struct {
	upstream string
	file     string // empty to keep them in memory

	mu    sync.Mutex
	known bool // the upstream was seen before
	// pins are by the names under which Beam offers the tools. Several names of an
	// upstream's own may become one of those.
	pins map[string]pin
	kept int // bytes of their definitions
}

// A pin is what was accepted of a tool.
type pin struct {
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition,omitempty"` // nil if it is too large to keep
	Since      time.Time       `json:"since"`
	Added      bool            `json:"added,omitempty"` // it came after the upstream was first seen
	// Changed is when another definition was first seen; zero if none is held back.
	Changed time.Time `json:"changed,omitzero"`
}

// Limits on what is remembered of an upstream. Of what is beyond them, the digest is: a
// tool that changes is held back all the same.
const (
	maxPins           = 10_000
	maxPinDefinition  = 64 << 10 // bytes
	maxPinDefinitions = 4 << 20  // bytes of all definitions
)

// pinFolder is the folder in the data folder that has a file for each upstream.
const pinFolder = "upstreams"

// OpenPins reads the pins of an upstream in a data folder. If dir is empty, they are
// kept in memory.
func OpenPins(dir, upstream string) (*Pins, error) {
	p := &Pins{upstream: upstream, pins: make(map[string]pin)}
	if dir == "" {
		return p, nil
	}
	p.file = pinFile(dir, upstream)
	raw, err := os.ReadFile(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &p.pins)
	}
	if err != nil {
		return nil, fmt.Errorf("what was accepted of the tools of %q can't be read (remove %s to accept them as they are): %w", upstream, p.file, err)
	}
	for _, known := range p.pins {
		p.kept += len(known.Definition)
	}
	p.known = true
	return p, nil
}

func pinFile(dir, upstream string) string {
	return filepath.Join(dir, pinFolder, upstream+".json")
}

// RemovePins forgets what was accepted of an upstream's tools.
func RemovePins(dir, upstream string) error {
	err := os.Remove(pinFile(dir, upstream))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// review pins tools that weren't seen before and compares the others with their
// pins. It sets the Decision, Reason, Added and Change of each. If the pins can't be
// stored, it returns an error, and what it decided holds until the process ends.
func (p *Pins) review(tools []*ToolStatus) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, changed := time.Now().UTC().Round(0), !p.known
	taken := make(map[string]bool) // names of tools that are as they were accepted
	for _, t := range tools {
		definition, digest := digestTool(t.Raw)
		name := catalogue.JoinName(p.upstream, t.Name)
		known, ok := p.pins[name]
		switch {
		case taken[name]:
			t.Decision = Offered // the catalogue refuses the second tool of a name
			continue
		case !ok && len(p.pins) >= maxPins:
			t.Decision, t.Reason = Skipped, fmt.Sprintf("The server has had more than %d tools. To forget those that are gone, accept what it has: beam upstream accept %s", maxPins, p.upstream)
			continue
		case !ok:
			known = p.newPin(digest, definition, now)
			known.Added = p.known
			p.pins[name], changed = known, true
		case known.Digest == digest && !known.Changed.IsZero():
			known.Changed = time.Time{} // it is again what was accepted
			p.pins[name], changed = known, true
		case known.Digest != digest && known.Changed.IsZero():
			known.Changed = now
			p.pins[name], changed = known, true
		}
		if known.Added {
			t.Added = known.Since
		}
		t.Decision, taken[name] = Offered, known.Digest == digest
		if known.Digest != digest {
			t.Decision, t.Reason = Held, "It changed since it was accepted."
			t.Change = &Change{Digest: digest, Since: known.Changed, Old: known.Definition, New: boundDefinition(definition, maxPinDefinition)}
		}
	}
	p.known = true
	if !changed {
		return nil
	}
	return p.store()
}

// newPin returns a pin, whose definition then counts as kept. Callers hold mu.
func (p *Pins) newPin(digest string, definition json.RawMessage, now time.Time) pin {
	definition = boundDefinition(definition, min(maxPinDefinition, maxPinDefinitions-p.kept))
	p.kept += len(definition)
	return pin{Digest: digest, Definition: definition, Since: now}
}

func boundDefinition(d json.RawMessage, most int) json.RawMessage {
	if len(d) > most {
		return nil
	}
	return d
}

// accept pins a tool's definition as it is now.
func (p *Pins) accept(name string, raw json.RawMessage) error {
	definition, digest := digestTool(raw)
	name = catalogue.JoinName(p.upstream, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	old, kept := p.pins[name], p.kept
	p.kept -= len(old.Definition)
	accepted := p.newPin(digest, definition, time.Now().UTC().Round(0))
	accepted.Added, accepted.Since = old.Added, old.Since
	p.pins[name] = accepted
	if err := p.store(); err != nil {
		p.pins[name], p.kept = old, kept
		return err
	}
	return nil
}

// forgetAbsent removes the pins of tools that the upstream doesn't list any more, if there
// are so many pins that new tools have no place. It reports whether it did. Only an
// operator may do that: a tool that comes back is then accepted as new.
func (p *Pins) forgetAbsent(listed map[string]*ToolStatus) (bool, error) {
	names := make(map[string]bool, len(listed))
	for own := range listed {
		names[catalogue.JoinName(p.upstream, own)] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pins) < maxPins {
		return false, nil
	}
	for name, known := range p.pins {
		if !names[name] {
			p.kept -= len(known.Definition)
			delete(p.pins, name)
		}
	}
	return true, p.store()
}

// store writes the pins. Callers hold mu.
func (p *Pins) store() error {
	if p.file == "" {
		return nil
	}
	raw, err := json.Marshal(p.pins)
	if err == nil {
		err = atomicfile.MakeDir(filepath.Dir(p.file))
	}
	if err == nil {
		err = atomicfile.Write(p.file, raw)
	}
	return err
}

// pinnedMembers are the members of a tool that are pinned: what tells a person, a model
// or a client what the tool is, does and takes.
var pinnedMembers = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta"}

// digestTool returns what is pinned of a tool, as JSON whose members are sorted, and its
// digest.
func digestTool(raw json.RawMessage) (definition json.RawMessage, digest string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // a tool that is no object has no members
	pinned := make(map[string]any, len(pinnedMembers))
	for _, name := range pinnedMembers {
		value, ok := members[name]
		if !ok {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			pinned[name] = v
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(pinned) != nil {
		panic("upstream: decoded JSON can't be encoded")
	}
	indented := bytes.TrimSpace(b.Bytes()) // of which the digest has always been
	sum := sha256.Sum256(indented)
	var compact bytes.Buffer
	if json.Compact(&compact, indented) != nil {
		panic("upstream: encoded JSON is not valid")
	}
	return bytes.Clone(compact.Bytes()), hex.EncodeToString(sum[:])
}

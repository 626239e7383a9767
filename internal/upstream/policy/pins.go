package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/smallstate"
)

// Pins remember which tools of one upstream an operator has accepted. A tool whose
// description, schemas or annotations change under the same name may do something
// else than people and models agreed to. Methods may be called from several
// goroutines.
type Pins struct {
	upstream string
	stored   smallstate.Bucket

	mu    sync.Mutex
	known bool // the upstream was seen before
	// incomplete means that pins may have been lost: tools without one are held back.
	incomplete bool
	// pins are by the names under which Beam offers the tools. Several names of an
	// upstream's own may become one of those.
	pins map[string]pin
	kept int // bytes of their definitions
	// unstored has what is stored of those that are yet to be stored.
	unstored map[string][]byte
	// changes has a value for each upstream, which changes with what somebody has decided.
	changes smallstate.Bucket
}

// A pin is what was accepted of a tool.
type pin struct {
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition,omitempty"` // nil if it is too large to keep
	Since      time.Time       `json:"since"`
	Added      bool            `json:"added,omitempty"` // it came after the upstream was first seen
	// Changed is when another definition was first seen; zero if none is held back.
	Changed time.Time `json:"changed,omitzero"`

	raw []byte // its JSON
}

// Limits on what is remembered of an upstream. Of what is beyond them, the digest is: a
// tool that changes is held back all the same.
const (
	maxPins           = 10_000
	maxPinDefinition  = 64 << 10 // bytes
	maxPinDefinitions = 4 << 20  // bytes of all definitions
)

// seenKey is the key that says that the upstream was seen before. No name of a tool is like that.
const seenKey = "."

// The values of seenKey.
var (
	seen           = []byte{1}
	seenIncomplete = []byte{2} // and what was accepted of it may have been lost
)

// PinsMayBeLost makes all tools without a pin be held back until somebody accepts them, of an
// upstream whose bucket is b. It reports false if that is no bucket of pins.
func PinsMayBeLost(ctx context.Context, b smallstate.Bucket) (bool, error) {
	if !strings.HasPrefix(b.Name, PinsBucket("")) {
		return false, nil
	}
	return true, b.Update(ctx, seenKey, func([]byte) ([]byte, error) { return seenIncomplete, nil })
}

// PinsBucket returns the name of the bucket that has the pins of an upstream, by the names of
// the tools.
func PinsBucket(upstream string) string { return "pins/" + upstream }

// OpenPins reads the pins of an upstream.
func OpenPins(s smallstate.Store, upstream string) (*Pins, error) {
	p := &Pins{upstream: upstream, stored: smallstate.Bucket{Store: s, Name: PinsBucket(upstream)}, changes: changesOf(s)}
	return p, p.load()
}

// load reads the pins. Callers hold mu.
func (p *Pins) load() error {
	pins, kept, known, incomplete := make(map[string]pin), 0, false, false
	for v, err := range p.stored.All(context.Background()) {
		if err == nil && v.Key == seenKey {
			known, incomplete = true, bytes.Equal(v.Value, seenIncomplete)
			continue
		}
		accepted := pin{raw: v.Value}
		if err == nil {
			err = json.Unmarshal(v.Value, &accepted)
		}
		if err != nil {
			return fmt.Errorf("what was accepted of the tools of %q can't be read: %w", p.upstream, err)
		}
		pins[v.Key] = accepted
		kept += len(accepted.Definition)
	}
	p.pins, p.kept, p.known, p.incomplete, p.unstored = pins, kept, known, incomplete, make(map[string][]byte)
	return nil
}

// RemovePins forgets what was accepted of an upstream's tools.
func RemovePins(ctx context.Context, s smallstate.Store, upstream string) error {
	return smallstate.Bucket{Store: s, Name: PinsBucket(upstream)}.DeleteIf(ctx, func(smallstate.Value) bool { return true })
}

// OldPins returns the values of the bucket for the file in which earlier versions kept them.
func OldPins(file []byte) (values []smallstate.Value, err error) {
	var pins map[string]json.RawMessage
	err = json.Unmarshal(file, &pins)
	for name, raw := range pins {
		var known pin
		if err == nil {
			err = json.Unmarshal(raw, &known)
		}
		values = append(values, smallstate.Value{Key: name, Value: raw})
	}
	return append(values, smallstate.Value{Key: seenKey, Value: seen}), err
}

// review pins tools that weren't seen before and compares the others with their
// pins. It sets the Decision, Reason, Added and Change of each. If the pins can't be
// stored, it returns an error, and what it decided holds until the process ends.
func (p *Pins) review(tools []*ToolStatus) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for try := 0; ; try++ {
		p.decide(tools)
		if err := p.store(); !errors.Is(err, errPinsChanged) || try == maxTries {
			return err
		}
	}
}

// maxTries is how often something is tried again because another process has changed the pins.
const maxTries = 5

// decide is review without storing the pins. Callers hold mu.
func (p *Pins) decide(tools []*ToolStatus) {
	now := time.Now().UTC().Round(0)
	if !p.known {
		p.unstored[seenKey] = nil
	}
	taken := make(map[string]bool) // names of tools that are as they were accepted
	for _, t := range tools {
		definition, digest := digestTool(t.Raw)
		name := catalogue.JoinName(p.upstream, t.Name)
		known, ok := p.pins[name]
		t.Reason, t.Added, t.Change = "", time.Time{}, nil
		switch {
		case taken[name]:
			t.Decision = Offered // the catalogue refuses the second tool of a name
			continue
		case !ok && len(p.pins) >= maxPins:
			t.Decision, t.Reason = Skipped, fmt.Sprintf("The server has had more than %d tools. To forget those that are gone, accept what it has: beam upstream accept %s", maxPins, p.upstream)
			continue
		case !ok && p.incomplete:
			known = pin{Since: now, Changed: now} // of nothing
			p.set(name, known)
		case !ok:
			known = p.newPin(digest, definition, now)
			known.Added = p.known
			p.set(name, known)
		case known.Digest == digest && !known.Changed.IsZero():
			known.Changed = time.Time{} // it is again what was accepted
			p.set(name, known)
		case known.Digest != digest && known.Changed.IsZero():
			known.Changed = now
			p.set(name, known)
		}
		if known.Added {
			t.Added = known.Since
		}
		t.Decision, taken[name] = Offered, known.Digest == digest
		if known.Digest != digest {
			t.Decision, t.Reason = Held, "It changed since it was accepted."
			if known.Digest == "" {
				t.Reason = "What was accepted of this server's tools has been damaged."
			}
			t.Change = &Change{Digest: digest, Since: known.Changed, Old: known.Definition, New: boundDefinition(definition, maxPinDefinition)}
		}
	}
	p.known = true
}

// set replaces a pin, which store then stores. Callers hold mu.
func (p *Pins) set(name string, to pin) {
	p.changing(name)
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // a definition takes no more than its limit
	if err := e.Encode(to); err != nil {
		panic(err) // definitions are JSON
	}
	to.raw = raw.Bytes()
	p.pins[name] = to
}

// changing notes what is stored of a pin that is about to change. Callers hold mu.
func (p *Pins) changing(name string) {
	if _, noted := p.unstored[name]; !noted {
		p.unstored[name] = p.pins[name].raw
	}
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
	for try := 0; ; try++ {
		if err := p.acceptDefinition(name, definition, digest); !errors.Is(err, errPinsChanged) || try == maxTries {
			return err
		}
	}
}

// acceptDefinition is accept, once. Callers hold mu.
func (p *Pins) acceptDefinition(name string, definition json.RawMessage, digest string) error {
	old := p.pins[name]
	p.kept -= len(old.Definition)
	accepted := p.newPin(digest, definition, time.Now().UTC().Round(0))
	accepted.Added, accepted.Since = old.Added, old.Since
	p.set(name, accepted)
	err := p.publish()
	if _, unstored := p.unstored[name]; unstored { // the change stays held back
		p.kept += len(old.Definition) - len(accepted.Definition)
		if p.pins[name] = old; old.raw == nil {
			delete(p.pins, name)
		}
	}
	return err
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
	if p.incomplete {
		p.incomplete, p.unstored[seenKey] = false, seenIncomplete
	}
	if len(p.pins) < maxPins {
		return false, p.publish()
	}
	for name, known := range p.pins {
		if !names[name] {
			p.kept -= len(known.Definition)
			p.changing(name)
			delete(p.pins, name)
		}
	}
	return true, p.publish()
}

// store stores what has changed, that the upstream was seen at last. What it can't store, the next
// call tries again. If another process has changed a pin, too, that counts. Callers hold mu.
func (p *Pins) store() error {
	var changes []smallstate.Change
	for _, name := range slices.Sorted(maps.Keys(p.unstored)) {
		if name != seenKey {
			changes = append(changes, p.stored.Change(name, p.unstored[name], p.pins[name].raw))
		}
	}
	if old, unstored := p.unstored[seenKey]; unstored {
		now := seen
		if p.incomplete {
			now = seenIncomplete
		}
		changes = append(changes, p.stored.Change(seenKey, old, now))
	}
	for chunk := range smallstate.Chunks(changes) {
		applied, err := p.stored.Store.Apply(context.Background(), chunk...)
		switch {
		case err != nil:
			return err
		case !applied:
			return errors.Join(errPinsChanged, p.reload())
		}
		for _, c := range chunk {
			delete(p.unstored, c.Key)
		}
	}
	return nil
}

var errPinsChanged = errors.New("another process has changed what is accepted")

// reload reads the pins, and keeps those that aren't stored yet. Callers hold mu.
func (p *Pins) reload() error {
	before, unstored := p.pins, p.unstored
	if err := p.load(); err != nil {
		return err
	}
	for name := range unstored {
		known, ok := before[name]
		if _, stored := p.pins[name]; ok && !stored {
			p.pins[name], p.unstored[name] = known, nil
			p.kept += len(known.Definition)
		}
	}
	return nil
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

package form

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Focus is where the focus belongs after a change: to the first control of a part, or
// to one of its buttons: add, remove, up or down.
type Focus struct{ Input, Button string }

var errNoSuchEdit = errors.New("there is no such part of the form to change")

// Edit adds a row or an optional part, or removes or moves one: "add INPUT", "remove
// INPUT", "up INPUT" or "down INPUT". It returns where the focus belongs, and what to
// say. After an error, nothing has changed.
func (p *Part) Edit(action string) (focus Focus, said string, err error) {
	verb, input, _ := strings.Cut(action, " ")
	if verb == "add" {
		if part := p.Find(input); part != nil && part.CanAdd {
			return part.add()
		}
		return Focus{}, "", errNoSuchEdit
	}
	parent, i := p.findParent(input)
	if parent == nil {
		return Focus{}, "", errNoSuchEdit
	}
	part := parent.Parts[i]
	switch {
	case verb == "remove" && part.Kind == Group && !part.Row && part.CanRemove():
		part.Parts, part.Present, part.CanAdd = nil, false, true
		return Focus{part.Input, "add"}, part.Label() + " removed", nil
	case part.Fixed || !part.Row:
	case verb == "remove":
		return parent.removeRow(i)
	case verb == "up" && i > 0 && parent.Kind == List && !parent.Parts[i-1].Fixed:
		return parent.swapRows(i, i-1, verb)
	case verb == "down" && i < len(parent.Parts)-1 && parent.Kind == List:
		return parent.swapRows(i, i+1, verb)
	}
	return Focus{}, "", errNoSuchEdit
}

// findParent returns the part whose nth part has an input.
func (p *Part) findParent(input string) (*Part, int) {
	for n, part := range p.Parts {
		if part.Input == input && p.Kind != Choice {
			return p, n
		}
		if strings.HasPrefix(input, part.Input) {
			if found, n := part.findParent(input); found != nil {
				return found, n
			}
		}
	}
	return nil, 0
}

// add adds a row, or the group itself.
func (p *Part) add() (Focus, string, error) {
	b := p.builder
	b.parts, b.steps, b.choices = 0, 0, 0
	r := p.schema
	in := input{mode: defaults}
	switch p.Kind {
	case Group:
		p.CanAdd = false
		again := b.newPart(p.schema, place{
			name: p.Name, token: p.token, input: p.Input, pointer: p.Pointer, title: p.Title, required: true, depth: p.depth,
		})
		b.group(again, r, p.conditions, in)
		p.Parts, p.Present, p.Changes = again.Parts, true, again.Changes
		return Focus{Input: p.Input}, p.Label() + " added", nil
	case List:
		first, rest := itemsOf(r)
		row := b.item(p, len(p.Parts), first, rest, in)
		if p.Parts = append(p.Parts, row); len(p.Parts) < len(first) {
			for i := len(p.Parts); i < len(first); i++ {
				p.Parts = append(p.Parts, b.item(p, i, first, rest, in))
			}
			p.CanAdd = rest != nil && !isFalse(rest)
		}
		return Focus{Input: row.Input}, row.Label() + " added", nil
	case Map:
		row := b.part(b.schemaOfMember(r, ""), p.mapPlace(len(p.Parts), ""), in)
		p.Parts = append(p.Parts, row)
		return Focus{Input: row.Input}, p.itemTitle + " added", nil
	}
	return Focus{}, "", errNoSuchEdit
}

func (p *Part) removeRow(i int) (Focus, string, error) {
	said := p.Parts[i].Label() + " removed"
	if p.Kind == Map {
		said = strings.TrimSpace(p.itemTitle+" "+p.Parts[i].token) + " removed"
	}
	p.Parts = append(p.Parts[:i], p.Parts[i+1:]...)
	p.CanAdd, p.Present = true, false
	p.renumber()
	if next := min(i, len(p.Parts)-1); next >= 0 && !p.Parts[next].Fixed {
		return Focus{p.Parts[next].Input, "remove"}, said, nil
	}
	return Focus{p.Input, "add"}, said, nil
}

func (p *Part) swapRows(i, j int, verb string) (Focus, string, error) {
	p.Parts[i], p.Parts[j] = p.Parts[j], p.Parts[i]
	p.renumber()
	switch { // the button may have gone
	case verb == "up" && (j == 0 || p.Parts[j-1].Fixed):
		verb = "down"
	case verb == "down" && j == len(p.Parts)-1:
		verb = "up"
	}
	return Focus{p.Parts[j].Input, verb}, fmt.Sprintf("Moved to position %d of %d", j+1, len(p.Parts)), nil
}

// renumber names the rows by their places.
func (p *Part) renumber() {
	for i, row := range p.Parts {
		at := p.mapPlace(i, row.token)
		if p.Kind == List {
			at = p.rowPlace(i)
			if row.token = at.token; !row.Fixed {
				row.Name, row.Title = strconv.Itoa(i), at.title
			}
		}
		row.move(at.input, at.pointer)
	}
}

// move gives a part and all below it another input and pointer.
func (p *Part) move(input, pointer string) {
	was, wasPointer := len(p.Input), len(p.Pointer)
	p.relabel(func(part *Part) {
		part.Input, part.Pointer = input+part.Input[was:], pointer+part.Pointer[wasPointer:]
	})
}

func (p *Part) relabel(change func(*Part)) {
	for _, part := range p.Parts {
		part.relabel(change)
	}
	change(p)
}

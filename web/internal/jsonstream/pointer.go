package jsonstream

import (
	"strconv"
	"strings"
)

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Child returns the pointer to a member or an element of what a JSON Pointer (RFC 6901)
// points at.
func Child(pointer, name string) string { return pointer + "/" + pointerEscapes.Replace(name) }

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// Seek reads up to the value that a JSON Pointer points at, from the value that follows.
// Of members with the same name, it points at the first. The error is [ErrNotFound] if
// there is none.
func (r *Reader) Seek(pointer string) error {
	if pointer == "" {
		_, err := r.Peek()
		return err
	}
	if pointer[0] != '/' {
		return ErrNotFound
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		if err := r.seekChild(pointerUnescapes.Replace(token)); err != nil {
			return err
		}
	}
	_, err := r.Peek()
	return err
}

func (r *Reader) seekChild(token string) error {
	c, err := r.Peek()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return r.seekMember(token)
	case '[':
		return r.seekElement(token)
	}
	return ErrNotFound
}

func (r *Reader) seekMember(name string) error {
	return r.seekIn('{', func() (bool, error) {
		found, err := r.Name()
		return found == name, err
	})
}

func (r *Reader) seekElement(token string) error {
	index, err := strconv.ParseUint(token, 10, 63)
	if err != nil || strconv.FormatUint(index, 10) != token {
		return ErrNotFound
	}
	next := uint64(0)
	return r.seekIn('[', func() (bool, error) {
		next++
		return next-1 == index, nil
	})
}

// seekIn enters an object or a list, and reads up to its first value that is wanted. IsWanted
// reads the name of a member.
func (r *Reader) seekIn(bracket byte, isWanted func() (bool, error)) error {
	if err := r.Enter(bracket); err != nil {
		return err
	}
	for {
		switch more, err := r.More(); {
		case err != nil:
			return err
		case !more:
			return ErrNotFound
		}
		if wanted, err := isWanted(); err != nil || wanted {
			return err
		}
		if err := r.Skip(); err != nil {
			return err
		}
	}
}

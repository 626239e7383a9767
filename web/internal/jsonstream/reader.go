// Package jsonstream reads a JSON text of any size value by value, without holding more of
// it than the value that is wanted. It expects valid JSON; of anything else it may read
// values that aren't there, but it returns.
package jsonstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxValue is the size of the largest value that [Reader.Value] returns, in bytes.
const MaxValue = 4 << 20

// Errors of a text that isn't what its reader expects.
var (
	ErrSyntax   = errors.New("it is not valid JSON")
	ErrTooLarge = fmt.Errorf("a value in it has more than %d MiB", MaxValue>>20)
	ErrNotFound = errors.New("it has no such value")
)

// A Reader reads values from a text. It is not safe for concurrent use.
type Reader struct {
	in     io.Reader
	offset int64  // of unread
	buffer []byte // for what is read of in
	unread []byte
	value  []byte
}

// New returns a reader of in.
func New(in io.Reader) *Reader { return &Reader{in: in, buffer: make([]byte, 64<<10)} }

// Reset makes the reader continue with in, which is at offset of the text.
func (r *Reader) Reset(in io.Reader, offset int64) {
	r.in, r.offset, r.unread = in, offset, nil
}

// fill reads more of the text if all was read.
func (r *Reader) fill() error {
	for len(r.unread) == 0 {
		n, err := r.in.Read(r.buffer)
		r.unread = r.buffer[:n]
		if n == 0 && err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) advance(n int) {
	r.unread = r.unread[n:]
	r.offset += int64(n)
}

// Peek returns the first byte of what follows, without white space: '{' of an object, '[' of
// a list, ']' at the end of one, and so on. The error is [ErrSyntax] at the end of the text.
func (r *Reader) Peek() (byte, error) {
	for {
		if err := r.fill(); err != nil {
			return 0, asSyntaxError(err)
		}
		switch c := r.unread[0]; c {
		case ' ', '\t', '\n', '\r':
			r.advance(1)
		default:
			return c, nil
		}
	}
}

// Offset returns how many bytes of the text precede what [Reader.Peek] returned.
func (r *Reader) Offset() int64 { return r.offset }

// Skip reads past the next value.
func (r *Reader) Skip() error { return r.scan(false) }

// Value reads the next value. It is valid until the next call.
func (r *Reader) Value() (json.RawMessage, error) {
	r.value = r.value[:0]
	err := r.scan(true)
	return r.value, err
}

// scan reads the next value, and keeps it or not.
func (r *Reader) scan(keep bool) error {
	if _, err := r.Peek(); err != nil {
		return err
	}
	var v valueScanner
	for !v.ended {
		err := r.fill()
		if errors.Is(err, io.EOF) && v.depth == 0 && !v.quoted {
			return nil // a number at the end of the text
		}
		if err != nil {
			return asSyntaxError(err)
		}
		n := v.scan(r.unread)
		if keep {
			if len(r.value)+n > MaxValue {
				return ErrTooLarge
			}
			r.value = append(r.value, r.unread[:n]...)
		}
		r.advance(n)
	}
	return nil
}

// A valueScanner finds the end of a value.
type valueScanner struct {
	depth                  int
	quoted, escaped, ended bool
}

// scan returns how much of a text belongs to the value.
func (v *valueScanner) scan(text []byte) int {
	for i := 0; i < len(text); i++ {
		if v.quoted {
			i += v.scanQuoted(text[i:])
			if v.quoted || v.depth > 0 {
				continue
			}
			v.ended = true
			return i + 1
		}
		switch text[i] {
		case '"':
			v.quoted = true
		case '{', '[':
			v.depth++
		case '}', ']':
			if v.depth == 0 { // it ends a number, and what that is in
				v.ended = true
				return i
			}
			if v.depth--; v.depth == 0 {
				v.ended = true
				return i + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if v.depth == 0 {
				v.ended = true
				return i
			}
		}
	}
	return len(text)
}

// scanQuoted returns the index of the quotation mark that ends a string, or of the last byte
// of the text.
func (v *valueScanner) scanQuoted(text []byte) int {
	for i, c := range text {
		switch {
		case v.escaped:
			v.escaped = false
		case c == '\\':
			v.escaped = true
		case c == '"':
			v.quoted = false
			return i
		}
	}
	return len(text) - 1
}

// Enter reads the bracket that begins an object or a list.
func (r *Reader) Enter(bracket byte) error {
	c, err := r.Peek()
	if err == nil && c != bracket {
		return ErrSyntax
	}
	if err == nil {
		r.advance(1)
	}
	return err
}

// More reports whether another element of the list, or another member of the object, that was
// entered follows. It reads the comma before it, or the bracket at the end.
func (r *Reader) More() (bool, error) {
	c, err := r.Peek()
	if err != nil {
		return false, err
	}
	if c == ',' {
		r.advance(1)
		c, err = r.Peek()
	}
	if err == nil && (c == ']' || c == '}') {
		r.advance(1)
		return false, nil
	}
	if c == ',' || c == ':' {
		return false, ErrSyntax
	}
	return err == nil, err
}

// Name reads the name of the next member of an object, and the colon.
func (r *Reader) Name() (string, error) {
	raw, err := r.Value()
	if err != nil {
		return "", err
	}
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", ErrSyntax
	}
	return name, r.Enter(':')
}

func asSyntaxError(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrSyntax
	}
	return err
}

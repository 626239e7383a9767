package generators

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"strconv"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/call"
)

// maxExclusiveKey is the maximum length of a key of [Options.Exclusive], in bytes.
const maxExclusiveKey = 256

// setExclusive sets the function for the photon's key. It returns an error if
// Options.Exclusive isn't a func(In) string.
func setExclusive[In any](p *Photon) error {
	if p.options.Exclusive == nil {
		return nil
	}
	key, ok := p.options.Exclusive.(func(In) string)
	if !ok {
		return fmt.Errorf("its option Exclusive is a %T, and must be a func(%s) string", p.options.Exclusive, reflect.TypeFor[In]())
	}
	if key == nil {
		return nil
	}
	p.exclusiveKey = func(args json.RawMessage) (string, error) {
		in, err := decodeArgs[In](args)
		if err != nil {
			return "", err
		}
		return key(in), nil
	}
	return nil
}

// exclusiveKeyOf returns the key of a run with arguments that [Photon.Check] returned; see
// [Options.Exclusive]. It is empty if the run waits for no other, and quoted if it isn't
// UTF-8, as a digest, so that a log keeps it as it is. If the photon's
// function panics, the error is a [*call.PanicError].
func (p *Photon) exclusiveKeyOf(args json.RawMessage) (key string, err error) {
	if p.exclusiveKey == nil {
		return "", nil
	}
	defer func() {
		if v := recover(); v != nil {
			key, err = "", &call.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if key, err = p.exclusiveKey(args); len(key) > maxExclusiveKey {
		return "", fmt.Errorf("the key of photon %q has %d bytes, and may have at most %d", p.name, len(key), maxExclusiveKey)
	}
	if !utf8.ValidString(key) {
		key = strconv.QuoteToASCII(key)
	}
	return key, err
}

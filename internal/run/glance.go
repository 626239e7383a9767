package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
)

// When Beam starts, it needs two of the members of every question that the log
// has. encoding/json goes through all of it twice to find them, which is a fifth
// of the time to read a million runs back.

// An outline is what is kept of a question that the log has.
type outline struct {
	deadline time.Time
	spent    ask.Millis
}

func outlineOf(e log.Entry) (outline, error) {
	var o outline
	err := members(e.Data, func(key, value []byte) error {
		switch string(key) {
		case "deadline":
			return o.deadline.UnmarshalJSON(value)
		case "spent":
			return json.Unmarshal(value, &o.spent)
		}
		return nil
	})
	if err != nil {
		return outline{}, fmt.Errorf("entry %d (%s): %w", e.Seq, e.Kind, err)
	}
	return o, nil
}

var errNoObject = errors.New("it is no JSON object")

// members calls f for each member of a JSON object without white space around
// its tokens, as encoding/json writes them, with the texts of its key, which is
// taken to have no escapes, and its value. What is no such object is an error,
// or, where a value is malformed, taken for what it seems to be.
func members(object []byte, f func(key, value []byte) error) error {
	if string(object) == "{}" {
		return nil
	}
	rest := object
	for begin := byte('{'); ; begin = ',' {
		if len(rest) < 2 || rest[0] != begin || rest[1] != '"' {
			return errNoObject
		}
		n := value(rest[1:])
		key := rest[1 : 1+n]
		if rest = rest[1+n:]; n < 2 || len(rest) < 2 || rest[0] != ':' {
			return errNoObject
		}
		if n = value(rest[1:]); n == 0 || len(rest) == 1+n {
			return errNoObject
		}
		if err := f(key[1:len(key)-1], rest[1:1+n]); err != nil {
			return err
		}
		if rest = rest[1+n:]; string(rest) == "}" {
			return nil
		}
	}
}

// value is the length of the JSON value that a text begins with: what comes
// before the next comma or bracket that is not within it.
func value(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

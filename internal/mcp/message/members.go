package message

import (
	"bytes"
	"encoding/json"

	"github.com/photon-beam/beam/internal/rawjson"
)

// WithoutMember returns a JSON object without a member.
func WithoutMember(raw json.RawMessage, name string) json.RawMessage {
	if rawjson.Member(raw, name) == nil {
		return raw
	}
	return rawjson.MapMembers(raw, func(member string, value json.RawMessage) json.RawMessage {
		if member == name {
			return nil
		}
		return value
	})
}

// WithMembers returns a JSON object with more members in the object at path, which it
// adds if necessary.
func WithMembers(raw json.RawMessage, more map[string]any, path ...string) json.RawMessage {
	members := map[string]any{}
	var existing map[string]json.RawMessage
	if json.Unmarshal(raw, &existing) == nil {
		for name, value := range existing {
			members[name] = value
		}
	}
	if len(path) == 0 {
		for name, value := range more {
			members[name] = value
		}
	} else {
		members[path[0]] = WithMembers(existing[path[0]], more, path[1:]...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		panic(err) // all values were decoded from JSON or are our own
	}
	return bytes.TrimSpace(b.Bytes())
}

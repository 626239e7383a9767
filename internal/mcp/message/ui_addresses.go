package message

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/internal/rawjson"
)

// UIScheme begins the addresses of resources that are user interfaces (MCP Apps).
const UIScheme = "ui://"

// CutUIScheme returns an address of a user interface in two parts: its scheme as it is written,
// in whatever case, and the rest. It reports false for other addresses.
func CutUIScheme(address string) (scheme, rest string, ok bool) {
	if len(address) < len(UIScheme) || !strings.EqualFold(address[:len(UIScheme)], UIScheme) {
		return "", address, false
	}
	return address[:len(UIScheme)], address[len(UIScheme):], true
}

// uiMembers are the members that hold the address of a resource, in definitions of tools
// and resources, in results, and in their _meta.
var uiMembers = map[string]bool{"uri": true, "uriTemplate": true, "resourceUri": true, "ui/resourceUri": true}

// maxMappedDepth is how deep MapUIAddresses looks for addresses.
const maxMappedDepth = 20

// MapUIAddresses returns a JSON value with the ui:// addresses of resources replaced by
// what mapUI returns for them, and otherwise as it is. A nil mapUI changes nothing.
func MapUIAddresses(raw json.RawMessage, mapUI func(string) string) json.RawMessage {
	if mapUI == nil || !mayHaveUI(raw) {
		return raw
	}
	return mapUIAddresses(raw, mapUI, maxMappedDepth)
}

func mapUIAddresses(raw json.RawMessage, mapUI func(string) string, depth int) json.RawMessage {
	if depth == 0 || !mayHaveUI(raw) {
		return raw
	}
	switch rawjson.TypeName(raw) {
	case rawjson.ObjectType:
		return rawjson.MapMembers(raw, func(name string, value json.RawMessage) json.RawMessage {
			if uiMembers[name] && rawjson.TypeName(value) == rawjson.TextType {
				return mapUIAddress(value, mapUI)
			}
			return mapUIAddresses(value, mapUI, depth-1)
		})
	case rawjson.ListType:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return raw
		}
		for i, value := range list {
			list[i] = mapUIAddresses(value, mapUI, depth-1)
		}
		return append(append([]byte{'['}, bytes.Join(byteSlices(list), []byte{','})...), ']')
	}
	return raw
}

// mayHaveUI reports whether a JSON value may have an address of a user interface: its scheme
// or, in whatever case, an escape that may be a part of it.
func mayHaveUI(raw json.RawMessage) bool {
	if bytes.Contains(raw, []byte(`\u00`)) {
		return true
	}
	for rest := raw; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			return false
		}
		if i >= 2 && rest[i-1]|0x20 == 'i' && rest[i-2]|0x20 == 'u' {
			return true
		}
		rest = rest[i+1:]
	}
}

func byteSlices(list []json.RawMessage) [][]byte {
	all := make([][]byte, len(list))
	for i, raw := range list {
		all[i] = raw
	}
	return all
}

func mapUIAddress(raw json.RawMessage, mapUI func(string) string) json.RawMessage {
	var address string
	if json.Unmarshal(raw, &address) != nil {
		return raw
	}
	if _, _, ok := CutUIScheme(address); !ok {
		return raw
	}
	return Compacted(mapUI(address))
}

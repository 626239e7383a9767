package message

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/rawjson"
)

var _ json.Marshaler = (*ToolResult)(nil)

// MarshalJSON implements [json.Marshaler].
func (r *ToolResult) MarshalJSON() ([]byte, error) {
	if r.content != nil {
		return r.ResultBase.AddTo(r.content), nil
	}
	type plain ToolResult
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode((*plain)(r))
	if err != nil || r.large == nil || r.large.streamed {
		return b.Bytes(), err
	}
	return r.large.Expand(b.Bytes())
}

// connectionMeta are the members of a result's _meta that belong to the connection with
// the server that sent it.
var connectionMeta = map[string]bool{
	mcp.MetaKeyServerInfo: true, mcp.MetaKeySubscriptionID: true, mcp.MetaKeyProtocolVersion: true,
	mcp.RelatedTaskMetaKey: true,
}

// AddTo returns a result of another server as Beam's own: with the members of b, and
// without those that belong to the connection with that server.
func (b ResultBase) AddTo(result json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	var meta json.RawMessage
	rawjson.EachMember(result, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "resultType":
		case "_meta":
			meta = value
		case "content", "contents", "messages":
			out = rawjson.AppendMember(out, string(name), withoutOurMeta(value))
		case "structuredContent":
			out = rawjson.AppendMember(out, string(name), withoutOurMembers(value))
		default:
			out = rawjson.AppendMember(out, string(name), value)
		}
	})
	if b.Type != "" {
		out = rawjson.AppendMember(out, "resultType", rawjson.EncodeText(b.Type))
	}
	if merged := b.mergeMeta(meta); len(merged) > len("{}") {
		out = rawjson.AppendMember(out, "_meta", merged)
	}
	return append(out, '}')
}

// mergeMeta returns the _meta of another server's result with the members of b's.
func (b ResultBase) mergeMeta(meta json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	if rawjson.TypeName(meta) == rawjson.ObjectType {
		rawjson.EachMember(meta, func(name []byte, value json.RawMessage) {
			if _, own := b.Meta[string(name)]; !own && !connectionMeta[string(name)] && !isOurs(string(name)) {
				out = rawjson.AppendMember(out, string(name), value)
			}
		})
	}
	own, err := json.Marshal(b.Meta)
	if err != nil {
		panic(err) // our own types
	}
	if len(b.Meta) > 0 {
		rawjson.EachMember(own, func(name []byte, value json.RawMessage) { out = rawjson.AppendMember(out, string(name), value) })
	}
	return append(out, '}')
}

// isOurs reports whether a member's name is in a namespace of Beam's own, by which programs
// would take what another server says for Beam's.
func isOurs(name string) bool {
	return strings.HasPrefix(name, "beam/") || strings.HasPrefix(name, "io.github.photon-beam/")
}

// withoutOurMembers returns an object without the members that only Beam may have.
func withoutOurMembers(raw json.RawMessage) json.RawMessage {
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return raw
	}
	some := false
	out := rawjson.MapMembers(raw, func(name string, value json.RawMessage) json.RawMessage {
		if isOurs(name) {
			some = true
			return nil
		}
		return value
	})
	if !some {
		return raw
	}
	return out
}

// WithoutOurMeta returns an object without the members of its _meta that only Beam may have.
func WithoutOurMeta(raw json.RawMessage) json.RawMessage {
	return changeMembers(raw, "_meta", withoutOurMembers)
}

// withoutOurMeta returns a list of content blocks or of messages with them without the
// members of any _meta that only Beam may have.
func withoutOurMeta(list json.RawMessage) json.RawMessage {
	if len(list) == 0 || list[0] != '[' || !bytes.Contains(list, []byte("_")) && !bytes.ContainsRune(list, '\\') {
		return list
	}
	out := []byte{'['}
	rawjson.EachElement(list, func(block json.RawMessage) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		for _, inner := range []string{"resource", "content"} {
			block = changeMembers(block, inner, WithoutOurMeta)
		}
		out = append(out, WithoutOurMeta(block)...)
		return true
	})
	return append(out, ']')
}

// changeMembers returns an object with the members of a name changed.
func changeMembers(raw json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	if rawjson.TypeName(raw) != rawjson.ObjectType || rawjson.Member(raw, name) == nil {
		return raw
	}
	return rawjson.MapMembers(raw, func(member string, value json.RawMessage) json.RawMessage {
		if member == name {
			return change(value)
		}
		return value
	})
}

// adaptContent returns the result of another server's tool for the client: with the
// addresses under which it reads resources, and without what its version doesn't have.
func (t *Translator) adaptContent(result json.RawMessage) json.RawMessage {
	older, oldest := !t.Client.IsModern(), !t.Client.VersionAtLeast(mcp.ProtocolVersion20250618)
	if !older && (t.MapUI == nil || !bytes.Contains(result, []byte("ui:"))) {
		return result
	}
	return rawjson.MapMembers(result, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "structuredContent":
			if older && rawjson.TypeName(value) != rawjson.ObjectType { // as their results must be
				return nil
			}
		case "content":
			if oldest {
				value = replaceLinks(value)
			}
			return MapUIAddresses(value, t.MapUI)
		case "contents", "messages", "_meta": // of resources/read and prompts/get, too
			return MapUIAddresses(value, t.MapUI)
		}
		return value
	})
}

// Foreign returns the result as another server gave it, but for what depends on the
// client; nil if there is none.
func (r *ToolResult) Foreign() json.RawMessage { return r.content }

// replaceLinks returns content blocks with texts in place of links, which clients before
// 2025-06-18 don't know.
func replaceLinks(content json.RawMessage) json.RawMessage {
	var blocks []json.RawMessage
	if !bytes.Contains(content, []byte("resource_link")) || json.Unmarshal(content, &blocks) != nil {
		return content
	}
	for i, raw := range blocks {
		var link struct{ Type, URI, Name, Title string }
		if json.Unmarshal(raw, &link) == nil && link.Type == "resource_link" {
			text := strings.TrimSpace(link.Title)
			if text == "" {
				text = link.Name
			}
			blocks[i] = Compacted(TextBlock(text + ": " + link.URI))
		}
	}
	return Compacted(blocks)
}

// Compacted returns the JSON of a value of our own types, without escaped HTML.
func Compacted(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// MaxNameLen is the length of the longest name of a tool or prompt. Clients cut longer
// ones, or refuse them, and put names of their own before them.
const MaxNameLen = 50

// separator separates the upstream's name from its tool's. The names of upstreams don't
// have it.
const separator = "__"

// nameHashLen is how many hexadecimal digits of a hash end a shortened name.
const nameHashLen = 8

// JoinName returns the name under which Beam offers an upstream's tool or prompt:
// SERVER__NAME, of the characters A-Z a-z 0-9 _ -, which all model APIs allow. A longer
// name than [MaxNameLen] ends with a hash instead of its rest.
func JoinName(server, name string) string {
	joined := server + separator + replaceOthers(name)
	if len(joined) <= MaxNameLen {
		return joined
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return joined[:MaxNameLen-nameHashLen-1] + "_" + hex.EncodeToString(sum[:])[:nameHashLen]
}

// SplitName returns the upstream whose tool has a name that [JoinName] returned. It
// reports false if no upstream's has.
func SplitName(joined string) (server string, ok bool) {
	server, _, ok = strings.Cut(joined, separator)
	return server, ok && server != ""
}

// replaceOthers replaces each character that a name can't have by an underscore.
func replaceOthers(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// JoinUI returns the address under which Beam serves an upstream's user interface:
// ui://SERVER/REST.
func JoinUI(server, uri string) string {
	scheme, rest, found := message.CutUIScheme(uri)
	if !found {
		return uri
	}
	return scheme + server + "/" + rest
}

// SplitUI returns the upstream and its own address of a user interface that [JoinUI]
// returned. It reports false if uri is none.
func SplitUI(uri string) (server, own string, ok bool) {
	scheme, rest, found := message.CutUIScheme(uri)
	if !found {
		return "", "", false
	}
	server, rest, ok = strings.Cut(rest, "/")
	return server, scheme + rest, ok
}

package callers

import "strings"

// IsSession reports whether an id is that of a browser that has not signed in.
func IsSession(id string) bool { return strings.HasPrefix(id, sessionPrefix) }

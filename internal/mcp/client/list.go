package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of a list.
const (
	maxListPages = 1000
	maxListBytes = 32 << 20
)

// List returns all pages of a list, such as the member "tools" of the results of
// tools/list: each item as the server wrote it. More than max items are an error, as is
// a list that never ends.
func (s *Session) List(ctx context.Context, method, member string, max int) ([]json.RawMessage, error) {
	var items []json.RawMessage
	bytes := 0
	var cursor json.RawMessage
	seen := map[string]bool{}
	for page := 1; ; page++ {
		params := map[string]any{}
		if cursor != nil {
			params["cursor"] = cursor
		}
		result, err := s.Request(ctx, method, params)
		if err != nil {
			return nil, err
		}
		more, next, err := parsePage(result, member)
		if err != nil {
			return nil, fmt.Errorf("the server's result of %s %w", method, err)
		}
		items = append(items, more...)
		bytes += len(result)
		switch {
		case len(items) > max:
			return nil, fmt.Errorf("the server lists more than %d %s", max, member)
		case bytes > maxListBytes:
			return nil, fmt.Errorf("the server's list of %s has more than %d bytes", member, maxListBytes)
		case next == nil:
			return items, nil
		case seen[string(next)]:
			return nil, fmt.Errorf("the server's list of %s never ends: it repeats a cursor", member)
		case page == maxListPages:
			return nil, fmt.Errorf("the server's list of %s has more than %d pages", member, maxListPages)
		}
		seen[string(next)] = true
		cursor = next
	}
}

// parsePage returns the items of a page, and the cursor of the next one or nil.
func parsePage(result json.RawMessage, member string) (items []json.RawMessage, next json.RawMessage, err error) {
	if rawjson.TypeName(result) != rawjson.ObjectType {
		return nil, nil, fmt.Errorf("is not an object")
	}
	if json.Unmarshal(rawjson.Member(result, member), &items) != nil {
		return nil, nil, fmt.Errorf("has no list of %s", member)
	}
	next = rawjson.Member(result, "nextCursor")
	if next == nil || string(next) == string(message.Null) || string(next) == `""` {
		return items, nil, nil
	}
	if rawjson.TypeName(next) != rawjson.TextType {
		return nil, nil, fmt.Errorf("has a nextCursor that is not a text")
	}
	return items, next, nil
}

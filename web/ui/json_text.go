package ui

import (
	"bytes"
	"encoding/json"
)

// isEmptyJSON reports whether raw has nothing to show.
func isEmptyJSON(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// jsonString returns the text of a JSON string; ok is false if raw is not one.
func jsonString(raw json.RawMessage) (text string, ok bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

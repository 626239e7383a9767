package rule_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/rule"
)

// TestMessages checks the words of rules whose words depend on what they ask for.
func TestMessages(t *testing.T) {
	for _, tt := range []struct{ name, want, got, message string }{
		{rule.Required, "", "", "is required"},
		{rule.Type, "integer", "number", "must be a whole number"},
		{rule.Type, "integer", "string", "must be a whole number, not text"},
		{rule.Type, "string,null", "array", "must be text or null, not a list"},
		{rule.Format, "email", "", "must be an email address, such as ada@example.org"},
		{rule.Format, "ipv4", "", "must have the format ipv4"},
		{rule.Pattern, rule.TimePattern, "", "must be a time of day, such as 18:30"},
		{rule.Pattern, "^a$", "", "must match the pattern ^a$"},
		{rule.MinLength, "1", "0", "must not be empty"},
		{rule.MinLength, "2", "1", "must be at least 2 characters long; it has 1"},
		{rule.MaxLength, "2", "", "must be at most 2 characters long"},
		{rule.MinItems, "1", "0", "must have at least 1 item; it has 0"},
		{rule.MaxItems, "2", "3", "must have at most 2 items; it has 3"},
		{rule.Enum, rule.OneOf(2, func(i int) string { return "ab"[i : i+1] }), "", "must be one of a, b"},
		{rule.Latest, "2026-12-31", "", "must not be after 2026-12-31"},
		{"contains", "", "", "must satisfy the schema's keyword contains"},
	} {
		if got := rule.Message(tt.name, tt.want, tt.got); got != tt.message {
			t.Errorf("%s %s %s: %q, want %q", tt.name, tt.want, tt.got, got, tt.message)
		}
	}
}

// TestOneOfCountsTheRest checks that a long list is cut.
func TestOneOfCountsTheRest(t *testing.T) {
	if got, want := rule.OneOf(21, func(int) string { return "x" }), "x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x … (21 in all)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

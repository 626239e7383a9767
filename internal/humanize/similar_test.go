package humanize_test

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/humanize"
)

func TestSimilar(t *testing.T) {
	names := []string{"ask_user_preferences", "book_dinner", "countdown", "kitchen_sink", "files__read", "ps"}
	for name, want := range map[string][]string{
		"countdwon": {"countdown"}, "kitchen-sink": {"kitchen_sink"}, "Kitchen": {"kitchen_sink"}, "boook_diner": {"book_dinner"},
		"read": {"files__read"}, "nobody": {}, "": {}, "p": {"ps"}, "zz": {},
	} {
		if got := humanize.Similar(name, names); !slices.Equal(got, want) {
			t.Errorf("Similar(%q) = %q, want %q", name, got, want)
		}
	}
}

package secretwords_test

import (
	"cmp"
	_ "embed"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/secretwords"
)

//go:embed testdata/third_table.txt
var thirdTable string

// What is told wrong is marked as a miss in the table, so that a change of either kind shows.
func TestThirdTable(t *testing.T) {
	for line := range strings.Lines(thirdTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSpace(line), "|")
		if len(columns) < 4 {
			t.Fatalf("too few columns: %s", line)
		}
		where, s, miss := columns[2], columns[3], len(columns) == 5
		word := ""
		if where == "field" || where == "title" {
			word = secretwords.InName(s, true)
		}
		if where != "field" {
			word = cmp.Or(word, secretwords.InText(s))
		}
		if right := (word != "") == (columns[0] == "stop"); right == miss {
			t.Errorf("told right: %v (%q): %s", right, word, line)
		}
	}
}

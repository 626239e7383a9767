package humanize

import (
	"cmp"
	"slices"
	"strings"
)

// maxSimilar is how many similar names are proposed at most.
const maxSimilar = 3

// Similar returns the names that were probably meant by a name that isn't one of them, the
// most similar first: those that differ in few letters, and those that contain it.
func Similar(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	want := plainName(name)
	if len(want) > 200 {
		return nil
	}
	for _, n := range names {
		plain := plainName(n)
		d := distance(want, plain)
		contains := len(want) >= 3 && (strings.Contains(plain, want) || len(plain) >= 3 && strings.Contains(want, plain))
		if d <= max(1, min(len(want), len(plain))/3) || contains {
			near = append(near, candidate{n, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	found := make([]string, 0, maxSimilar)
	for _, c := range near[:min(len(near), maxSimilar)] {
		found = append(found, c.name)
	}
	return found
}

// Distance returns how many letters of one name have to be inserted, removed or replaced, and
// how many neighbors exchanged, to turn it into another. It ignores case, and what joins words.
func Distance(a, b string) int { return distance(plainName(a), plainName(b)) }

func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// distance returns how many bytes have to be inserted, removed or replaced, and how many
// neighbors exchanged, to turn a into b.
func distance(a, b string) int {
	previous, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], previous[j-2]+1)
			}
		}
		previous, row, next = row, next, previous
	}
	return row[len(b)]
}

// Package unifieddiff compares texts line by line, in the unified format.
package unifieddiff

import (
	"fmt"
	"strings"
)

// Of returns the lines that differ between two texts, with three lines of context. If no
// line differs, it says so.
func Of(before, after string) string { return unifiedDiff(splitLines(before), splitLines(after)) }

// splitLines returns the lines of a text with their line feeds.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A diffLine is a line of a diff: removed ('-'), added ('+') or in both texts (' ').
type diffLine struct {
	sign byte
	text string
}

// diffContext is how many unchanged lines surround a change.
const diffContext = 3

// unifiedDiff returns the hunks that turn one text into another.
func unifiedDiff(before, after []string) string {
	lines := diffLines(before, after)
	var b strings.Builder
	oldLine, newLine := 1, 1 // of lines[i]
	for i := 0; i < len(lines); {
		end := hunkEnd(lines, i)
		if end == 0 {
			break
		}
		start := i
		for lines[start].sign == ' ' {
			start++
		}
		start = max(i, start-diffContext)
		oldLine, newLine = oldLine+start-i, newLine+start-i
		oldCount, newCount := countLines(lines[start:end])
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", hunkRange(oldLine, oldCount), hunkRange(newLine, newCount))
		for _, l := range lines[start:end] {
			b.WriteByte(l.sign)
			b.WriteString(l.text)
			if !strings.HasSuffix(l.text, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		oldLine, newLine, i = oldLine+oldCount, newLine+newCount, end
	}
	if b.Len() == 0 {
		return "No line differs.\n"
	}
	return b.String()
}

// hunkEnd returns where the next hunk after an index ends; 0 if there is none. Changes with
// at most twice diffContext lines between them are in one hunk.
func hunkEnd(lines []diffLine, from int) int {
	last := -1
	for i := from; i < len(lines); i++ {
		if lines[i].sign != ' ' {
			last = i
		} else if last >= 0 && i-last > 2*diffContext {
			break
		}
	}
	if last < 0 {
		return 0
	}
	return min(last+1+diffContext, len(lines))
}

func countLines(lines []diffLine) (old, new int) {
	for _, l := range lines {
		if l.sign != '+' {
			old++
		}
		if l.sign != '-' {
			new++
		}
	}
	return old, new
}

// hunkRange returns a range of lines as a hunk's header has it: an empty range is after
// the line before it, and a count of 1 is omitted.
func hunkRange(first, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// diffLines returns all lines of two texts, with as many in common as diffMiddle finds.
func diffLines(before, after []string) []diffLine {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	lines := appendLines(nil, ' ', before[:head])
	lines = append(lines, diffMiddle(before[head:len(before)-tail], after[head:len(after)-tail])...)
	return appendLines(lines, ' ', before[len(before)-tail:])
}

// maxDiffCells limits the work and the memory of a diff. Longer texts are shown as
// removed and added as a whole, apart from their common beginning and end.
const maxDiffCells = 4 << 20

// diffMiddle returns the lines of two texts with a longest common subsequence in common.
func diffMiddle(before, after []string) []diffLine {
	n, m := len(before), len(after)
	if (n+1)*(m+1) > maxDiffCells {
		return appendLines(appendLines(nil, '-', before), '+', after)
	}
	common := make([]uint32, (n+1)*(m+1)) // lengths of those of before[i:] and after[j:]
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i*(m+1)+j] = common[(i+1)*(m+1)+j+1] + 1
			} else {
				common[i*(m+1)+j] = max(common[(i+1)*(m+1)+j], common[i*(m+1)+j+1])
			}
		}
	}
	var lines []diffLine
	i, j := 0, 0
	for i < n && j < m {
		switch {
		case before[i] == after[j]:
			lines = append(lines, diffLine{' ', before[i]})
			i, j = i+1, j+1
		case common[(i+1)*(m+1)+j] >= common[i*(m+1)+j+1]:
			lines = append(lines, diffLine{'-', before[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', after[j]})
			j++
		}
	}
	return appendLines(appendLines(lines, '-', before[i:]), '+', after[j:])
}

func appendLines(lines []diffLine, sign byte, texts []string) []diffLine {
	for _, t := range texts {
		lines = append(lines, diffLine{sign, t})
	}
	return lines
}

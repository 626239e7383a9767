package durability

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"testing"
)

// A call is a system call that strace recorded.
type call struct {
	name string
	args []string // strings are decoded
	ret  int      // -1 if it failed
	time float64  // in seconds, when it began, or returned
}

// replayTrace calls enter when a call in a trace begins, and exit when it ends,
// in order. Calls of several threads overlap.
func replayTrace(t *testing.T, r io.Reader, enter, exit func(*call)) {
	t.Helper()
	begun := make(map[string]*call) // by thread
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		thread, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		clock, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		now, err := strconv.ParseFloat(clock, 64)
		if err != nil {
			t.Fatalf("no time: %.200s", line)
		}
		if strings.HasPrefix(rest, "+++") || strings.HasPrefix(rest, "---") {
			continue
		}
		c := begun[thread]
		if resumed, ok := strings.CutPrefix(rest, "<... "); ok {
			delete(begun, thread)
			if c == nil {
				continue // it began before it was traced
			}
			_, rest, _ = strings.Cut(resumed, ">")
		} else {
			c = parseCall(t, rest)
			c.time = now
			enter(c)
			if strings.HasSuffix(rest, "<unfinished ...>") {
				begun[thread] = c
				continue
			}
		}
		c.ret, c.time = returnValue(rest), now
		exit(c)
	}
}

// returnValue returns what a call returned: the number after the last equals
// sign.
func returnValue(line string) int {
	text := line[strings.LastIndex(line, " = ")+3:]
	text, _, _ = strings.Cut(text, " ")
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1 // "?"
	}
	return n
}

// parseCall parses a call up to its return value.
func parseCall(t *testing.T, line string) *call {
	t.Helper()
	name, rest, ok := strings.Cut(line, "(")
	if !ok {
		t.Fatalf("no call: %.200s", line)
	}
	c := &call{name: name}
	for rest != "" {
		rest = strings.TrimLeft(rest, ", ")
		switch {
		case strings.HasPrefix(rest, ")"), strings.HasPrefix(rest, "<"): // unfinished, or cut off by the end of the process
			return c
		case strings.HasPrefix(rest, `"`):
			end := strings.IndexByte(rest[1:], '"') + 1
			c.args = append(c.args, decodeHex(t, rest[1:end]))
			rest = rest[end+1:]
			if strings.HasPrefix(rest, "...") {
				t.Fatalf("strace cut off what was written: %.200s", line)
			}
		default:
			end := strings.IndexAny(rest, ",)<")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				t.Fatalf("unreadable: %s", line[max(0, len(line)-200):])
			}
			c.args = append(c.args, strings.TrimSpace(rest[:end]))
			rest = rest[end:]
		}
	}
	return c
}

// decodeHex decodes the output of strace -xx: \x and two digits for each byte.
func decodeHex(t *testing.T, s string) string {
	t.Helper()
	b := make([]byte, len(s)/4)
	for i := range b {
		b[i] = nibble(s[4*i+2])<<4 | nibble(s[4*i+3])
	}
	return string(b)
}

func nibble(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// intArg returns the argument at i, or -1 if it isn't a number.
func (c *call) intArg(i int) int {
	if i >= len(c.args) {
		return -1
	}
	n, err := strconv.ParseInt(c.args[i], 0, 64)
	if err != nil {
		return -1 // AT_FDCWD
	}
	return int(n)
}

// hasFlag reports whether the argument at i has a flag.
func (c *call) hasFlag(i int, flag string) bool {
	return i < len(c.args) && strings.Contains("|"+c.args[i]+"|", "|"+flag+"|")
}

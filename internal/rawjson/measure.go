package rawjson

// Measure returns how deep the objects and lists of a JSON text are within each other,
// and how many there are. It reads any text, and takes time in proportion to its length.
func Measure(text []byte) (depth, count int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			count++
			depth = max(depth, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return depth, count
}

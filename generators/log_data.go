package generators

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
)

// truncateText cuts text to MaxText bytes, at a character's end, and says how long it was.
func truncateText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	note := fmt.Sprintf(" … (cut: %d bytes in all)", len(s))
	end := MaxText - len(note)
	for i := 1; i < utf8.UTFMax && !utf8.RuneStart(s[end]); i++ {
		end--
	}
	return s[:end] + note
}

// finiteOrZero replaces what JSON can't say (NaN and the infinities) by 0.
func finiteOrZero(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// mustMarshal encodes values of our own types, which can't fail.
func mustMarshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("generators: encoding %T: %v", v, err))
	}
	return raw
}

// encodeLogData makes any value fit for a log line. Whoever encodes an event is the
// run's driver, so a value whose methods panic must not take that down.
func encodeLogData(v any) (data any) {
	defer func() {
		if p := recover(); p != nil {
			data = truncateText(fmt.Sprintf("this %T can't be shown: it panicked: %v", v, p))
		}
	}()
	raw, err := json.Marshal(v)
	switch text, isRaw := v.(json.RawMessage); {
	case err == nil && len(raw) <= MaxText:
		return json.RawMessage(raw)
	case err == nil:
		return truncateText(string(raw))
	case isRaw:
		return truncateText(string(text))
	case !isPrintable(v):
		return truncateText(fmt.Sprintf("this %T can't be shown: %v", v, err))
	}
	return truncateText(fmt.Sprint(v))
}

// isPrintable tells whether fmt comes to an end with a value: a map or slice
// that contains itself would overflow the stack, which nothing recovers from.
func isPrintable(v any) bool {
	values := 10_000
	var walk func(v reflect.Value, depth int) bool
	walk = func(v reflect.Value, depth int) bool {
		if values--; values < 0 || depth > 50 {
			return false
		}
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			return v.IsNil() || walk(v.Elem(), depth+1)
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if !walk(v.Index(i), depth+1) {
					return false
				}
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				if !walk(v.MapIndex(key), depth+1) {
					return false
				}
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if !walk(v.Field(i), depth+1) {
					return false
				}
			}
		}
		return true
	}
	return walk(reflect.ValueOf(v), 0)
}

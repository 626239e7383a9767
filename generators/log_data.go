package generators

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/photon-beam/beam/internal/humanize"
)

// truncateText returns s if it has at most MaxText bytes. Otherwise it truncates s
// to MaxText bytes and ends it with the number of bytes in s.
func truncateText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return humanize.TruncateBytes(s, MaxText, fmt.Sprintf(" … (truncated: %d bytes in all)", len(s)))
}

// finiteOrZero returns f, or 0 if f is NaN or infinite, which JSON can't represent.
func finiteOrZero(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// mustMarshal encodes values for which json.Marshal can't fail.
func mustMarshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("generators: encoding %T: %v", v, err))
	}
	return raw
}

// encodeLogData returns a value that fits in a log line and that encoding/json can
// encode. It recovers panics of v's methods, because it runs in the driver of the run.
func encodeLogData(v any) (data any) {
	defer func() {
		if p := recover(); p != nil {
			data = truncateText(fmt.Sprintf("this %T can't be shown, because it panicked: %v", v, p))
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

// isPrintable reports whether package fmt can print v. A map or slice that contains
// itself would overflow the stack, which can't be recovered.
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

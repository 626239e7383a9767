package driver

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/call"
)

// finiteOrZero returns f, or 0 if f is NaN or infinite, which JSON can't represent.
func finiteOrZero(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// encodeLogData returns a value that fits in a log line and that encoding/json can
// encode. It recovers panics of v's methods, because it runs in the driver of the run.
func encodeLogData(v any) (data any) {
	defer func() {
		if p := recover(); p != nil {
			data = call.TruncateText(fmt.Sprintf("this %T can't be shown, because it panicked: %v", v, p))
		}
	}()
	raw, err := json.Marshal(v)
	switch text, isRaw := v.(json.RawMessage); {
	case err == nil && len(raw) <= call.MaxText:
		return json.RawMessage(raw)
	case err == nil:
		return call.TruncateText(string(raw))
	case isRaw:
		return call.TruncateText(string(text))
	case !isPrintable(v):
		return call.TruncateText(fmt.Sprintf("this %T can't be shown: %v", v, err))
	}
	return call.TruncateText(fmt.Sprint(v))
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

// normalized returns the artifact as a log records it: with texts of limited length,
// and with the actual size of its body.
func normalized(a *generators.Artifact) *generators.Artifact {
	n := *a
	n.Title, n.MediaType, n.URI = call.TruncateText(a.Title), call.TruncateText(a.MediaType), call.TruncateText(a.URI)
	if len(a.Body) > 0 {
		n.Size = int64(len(a.Body))
	}
	return &n
}

// orInfo returns l, or Info if l is not one of the levels.
func orInfo(l generators.Level) generators.Level {
	switch l {
	case generators.Debug, generators.Info, generators.Success, generators.Notice, generators.Warning, generators.Error, generators.Critical,
		generators.Alert, generators.Emergency:
		return l
	}
	return generators.Info
}

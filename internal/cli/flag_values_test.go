package cli

import (
	"reflect"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/cli/command"
)

func TestAllFlagsThatAreTimesTakeTheSame(t *testing.T) {
	var look func(reflect.Type)
	look = func(in reflect.Type) {
		for i := range in.NumField() {
			f := in.Field(i)
			kind := f.Type
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if kind == reflect.TypeFor[time.Duration]() {
				t.Errorf("%s.%s takes no days: make it a durationFlag", in.Name(), f.Name)
			} else if kind.Kind() == reflect.Struct {
				look(kind)
			}
		}
	}
	look(reflect.TypeFor[commandLine]())
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "90s": 90 * time.Second, "7d": 168 * time.Hour, "2w": 336 * time.Hour, "1h30m": 90 * time.Minute, "1d12h": 36 * time.Hour, "1w1d1s": 192*time.Hour + time.Second} {
		var a command.Duration
		if err := a.UnmarshalText([]byte(text)); err != nil || time.Duration(a) != want {
			t.Errorf("%s is %s, %v", text, time.Duration(a), err)
		}
	}
	for text, want := range map[string]int64{"0": 0, "12B": 12, "5KB": 5000, "5K": 5000, "5KiB": 5120, "3MB": 3e6, "2GiB": 2 << 30, "1TB": 1e12} {
		var s command.Size
		if err := s.UnmarshalText([]byte(text)); err != nil || int64(s) != want {
			t.Errorf("%s is %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "1", "1y", "99999999999w", "4000000000w", "15250w9999d", "15250w5000h", "1d2w", "1d-1h", "1.5d", "1d2d", "w", "1h1d", " 1d"} {
		var a command.Duration
		if err := a.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %s", text, time.Duration(a))
		}
	}
	for _, text := range []string{"", "B", "-1", "12", "00", "1.5GB", "1XB", "1KMB", "1iB", "99999999TB", "1 B"} {
		var s command.Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, s)
		}
	}
}

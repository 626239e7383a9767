package generators_test

import (
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		err         generators.FieldError
		label, want string
	}{
		{driver.At("name", "is required"), "Name", "Name is required."},
		{driver.At("name", "must be one of a, b"), "", "/name must be one of a, b."},
		{generators.FieldError{Message: "must be an object, not text"}, "", "The value must be an object, not text."},
		{driver.At("file", "a.csv has 9 bytes; at most 5 are accepted"), "Your answer", "Your answer: a.csv has 9 bytes; at most 5 are accepted."},
		{driver.At("code", "three capital letters."), "Code", "Code: three capital letters."},
	} {
		if got := driver.Sentence(tt.err, tt.label); got != tt.want {
			t.Errorf("%+v of %q is worded %q, want %q", tt.err, tt.label, got, tt.want)
		}
	}
}

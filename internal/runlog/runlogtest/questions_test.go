package runlogtest

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/ask"
)

func TestEveryKindOfQuestionHasAnExample(t *testing.T) {
	var kinds []ask.Kind
	for _, q := range Questions() {
		kinds = append(kinds, q.Kind)
	}
	if !slices.Equal(kinds, ask.Kinds()) {
		t.Errorf("the examples are %v, the kinds %v", kinds, ask.Kinds())
	}
}

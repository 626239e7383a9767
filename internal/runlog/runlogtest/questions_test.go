package runlogtest

import (
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
)

func TestEveryKindOfQuestionHasAnExample(t *testing.T) {
	var kinds []askdata.Kind
	for _, q := range Questions() {
		kinds = append(kinds, q.Kind)
	}
	if !slices.Equal(kinds, askdata.Kinds()) {
		t.Errorf("the examples are %v, the kinds %v", kinds, askdata.Kinds())
	}
}

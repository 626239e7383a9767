package generators_test

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
)

func TestTaskSupportIsValidated(t *testing.T) {
	photon := func(task generators.TaskSupport) *generators.Photon {
		return generators.New("p", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, &generators.Options{Task: task})
	}
	for _, task := range []generators.TaskSupport{"", generators.TaskPreferred, generators.TaskAfterAsking, generators.TaskRequired, generators.TaskForbidden} {
		if _, err := registry.NewRegistry(photon(task)); err != nil {
			t.Errorf("%q is rejected: %v", task, err)
		}
	}
	_, err := registry.NewRegistry(photon("always"))
	if err == nil || !strings.Contains(err.Error(), `Options.Task is "always"`) {
		t.Errorf(`"always": %v`, err)
	}
}

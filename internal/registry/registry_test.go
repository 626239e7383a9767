package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
)

func returnZero(context.Context, struct{}, generators.Yield) (int, error) { return 0, nil }

// newTypedPhoton returns a photon with the given input and output types.
func newTypedPhoton[In, Out any](opts *generators.Options) *generators.Photon {
	return generators.New("p", func(context.Context, In, generators.Yield) (out Out, err error) { return out, nil }, opts)
}

type (
	inner  struct{ Ch chan int }
	outer  struct{ Jobs []map[string]*inner }
	cycle  struct{ Next *cycle }
	badTag struct {
		Age int `json:"age" minimum:"young"`
	}
	nestedForm struct {
		Home struct{ Street string } `json:"home"`
	}
	secretForm struct {
		APIKey string `json:"apiKey"`
	}
	listForm struct {
		Tags []string `json:"tags"`
	}
)

// A registry rejects photons that would otherwise fail only when they run or ask.
func TestRegistryRejectsInvalidPhotons(t *testing.T) {
	forms := func(checks ...func() error) *generators.Options { return &generators.Options{Forms: checks} }
	tests := []struct {
		name   string
		photon *generators.Photon
		want   []string
	}{
		{"nil", nil, []string{"nil"}},
		{"no function", generators.New[struct{}, int]("p", nil, nil), []string{`photon "p"`, "no function"}},
		{"no channel function", generators.FromChan[struct{}, int]("p", nil, nil), []string{`photon "p"`, "no function"}},
		{"empty name", generators.New("", returnZero, nil), []string{`photon ""`, "a name must be 1 to 128"}},
		{"a space", generators.New("a b", returnZero, nil), []string{`"a b"`, "a name must be"}},
		{"a slash", generators.New("a/b", returnZero, nil), []string{"a name must be"}},
		{"a dot first", generators.New("..", returnZero, nil), []string{"a name must be"}},
		{"not ASCII", generators.New("größe", returnZero, nil), []string{"a name must be"}},
		{"too long", generators.New(strings.Repeat("a", 129), returnZero, nil), []string{"a name must be"}},
		{"channel field", newTypedPhoton[outer, int](nil), []string{"its input has no schema", "field Jobs of", "field Ch of", "chan int"}},
		{"channel result", newTypedPhoton[struct{}, outer](nil), []string{"its output has no schema", "field Ch of"}},
		{"function", newTypedPhoton[struct{}, func()](nil), []string{"its output has no schema", "func()"}},
		{"cycle", newTypedPhoton[cycle, int](nil), []string{"field Next of", "cycle"}},
		{"bad tag", newTypedPhoton[badTag, int](nil), []string{"field Age of", `minimum:"young"`, "must be a number"}},
		{"text as input", newTypedPhoton[string, int](nil), []string{"must be a struct or a map"}},
		{"anything as input", newTypedPhoton[any, int](nil), []string{"must be a struct or a map"}},
		{"nested form", newTypedPhoton[struct{}, int](forms(ask.Fits[nestedForm])), []string{`photon "p"`, `field "home"`, "is an object; a form is flat"}},
		{"form with a secret", newTypedPhoton[struct{}, int](forms(ask.Fits[listForm], ask.Fits[secretForm])), []string{`"apiKey"`, "ask.Secret"}},
		{"form with a channel", newTypedPhoton[struct{}, int](forms(ask.Fits[inner])), []string{"field Ch of"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := registry.NewRegistry(tt.photon)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want one with %q", err, want)
				}
			}
		})
	}
}

func TestRegistryRejectsDuplicates(t *testing.T) {
	r, err := registry.NewRegistry(generators.New("a", returnZero, nil), generators.New("A", returnZero, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(generators.New("a", returnZero, nil)); err == nil || !strings.Contains(err.Error(), `photon "a"`) {
		t.Errorf("a second %q: %v", "a", err)
	}
	if _, err := registry.NewRegistry(generators.New("b", returnZero, nil), generators.New("b", returnZero, nil)); err == nil {
		t.Error("NewRegistry accepted two photons with the same name")
	}
}

func TestRegistryFindsPhotons(t *testing.T) {
	r, err := registry.NewRegistry(
		generators.New("zeta", returnZero, &generators.Options{Title: "Z"}),
		generators.New("alpha.1", returnZero, nil),
		generators.New("_", returnZero, nil))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.All() {
		names = append(names, p.Name()+"="+p.Title())
	}
	if got := fmt.Sprint(names); got != "[_=_ alpha.1=alpha.1 zeta=Z]" {
		t.Errorf("the photons are %s", got)
	}
	if p, ok := r.Lookup("zeta"); !ok || p.Name() != "zeta" {
		t.Error("zeta was not found")
	}
	if _, ok := r.Lookup("Zeta"); ok {
		t.Error("Zeta was found")
	}
}

func TestRegistryIsConcurrent(t *testing.T) {
	r, err := registry.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			err := r.Add(generators.New(fmt.Sprint(i%25), returnZero, nil))
			if _, ok := r.Lookup(fmt.Sprint(i % 25)); !ok || len(r.All()) == 0 {
				t.Errorf("%d: not there (%v)", i, err)
			}
		})
	}
	all.Wait()
	if n := len(r.All()); n != 25 {
		t.Errorf("%d photons, want 25", n)
	}
}

// Changing the options after New doesn't change the photon.
func TestOptionsAreCopied(t *testing.T) {
	opts := &generators.Options{Title: "before", Forms: []func() error{func() error { return nil }}}
	p := newTypedPhoton[struct{}, int](opts)
	opts.Title = "after"
	if p.Title() != "before" || p.Options().Title != "before" {
		t.Errorf("the title is %q", p.Title())
	}
	failing := errors.New("no")
	opts.Forms[0] = func() error { return failing }
	if _, err := registry.NewRegistry(p); err != nil {
		t.Errorf("rejected: %v", err)
	}
}

// A registry changes as a whole, or not at all.
func TestUpdateIsOneChange(t *testing.T) {
	named := func(name string) *generators.Photon {
		return generators.New(name, returnZero, nil)
	}
	r, err := registry.NewRegistry(named("a"), named("b"))
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	defer r.Watch(func() { changes++ })()
	if err := r.Update([]string{"a", "missing"}, named("c"), named("b")); err == nil {
		t.Error("two photons have the same name")
	}
	if err := r.Update(nil, named("d"), nil); err == nil {
		t.Error("a nil photon is registered")
	}
	if _, ok := r.Lookup("a"); !ok || changes != 0 || len(r.All()) != 2 {
		t.Errorf("a failed update changed something: %d changes, %d photons", changes, len(r.All()))
	}
	replaced := named("a")
	if err := r.Update([]string{"a", "b"}, named("c"), replaced); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Lookup("a"); got != replaced || changes != 1 || len(r.All()) != 2 {
		t.Errorf("the update is not there, or is %d changes", changes)
	}
}

// Package smallstatetest tests stores of small state.
package smallstatetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/internal/smallstate"
)

// RunSuite tests a store. create makes an empty one, and returns a function that opens it once
// more each time, as another process does. All that were opened are used at once.
func RunSuite(t *testing.T, create func(t *testing.T) (open func() smallstate.Store)) {
	for name, test := range map[string]func(*testing.T, func() smallstate.Store){
		"Values":       testValues,
		"AllOrNothing": testAllOrNothing,
		"OneAdds":      testOneAdds,
		"NoUpdateLost": testNoUpdateLost,
		"Pages":        testPages,
	} {
		t.Run(name, func(t *testing.T) { test(t, create(t)) })
	}
}

// randomText returns a text of n bytes that can't be compressed much.
func randomText(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()[:n]
}

func apply(t *testing.T, s smallstate.Store, want bool, changes ...smallstate.Change) {
	t.Helper()
	if applied, err := s.Apply(t.Context(), changes...); applied != want || err != nil {
		t.Errorf("%+v: applied %t, %v", changes, applied, err)
	}
}

func get(t *testing.T, s smallstate.Store, bucket, key, want string) {
	t.Helper()
	if v, err := s.Get(t.Context(), bucket, key); string(v) != want || err != nil {
		t.Errorf("%s %q is %q, not %q: %v", bucket, key, v, want, err)
	}
}

// A value is what was written last, whoever reads it, whatever its key and its bytes are.
func testValues(t *testing.T, open func() smallstate.Store) {
	s, other := open(), open()
	get(t, s, "b", "k", "")
	long := smallstate.Change{Bucket: "b", Key: strings.Repeat("k", smallstate.MaxKey+1), New: []byte("v")}
	if applied, err := s.Apply(t.Context(), long); applied || !errors.Is(err, smallstate.ErrKeyTooLong) {
		t.Errorf("a key that is too long: %t, %v", applied, err)
	}
	for _, key := range []string{"k", "a/b", "ü", "nul\x00", "\x01x", randomText(smallstate.MaxKey)} {
		value := "a\x00\xff" + key
		apply(t, s, false, smallstate.Change{Bucket: "b", Key: key, Old: []byte("x"), New: []byte(value)})
		get(t, s, "b", key, "")
		apply(t, s, true, smallstate.Change{Bucket: "b", Key: key, New: []byte(value)})
		apply(t, other, false, smallstate.Change{Bucket: "b", Key: key, New: []byte("2")})
		get(t, other, "b", key, value)
		get(t, s, "c", key, "")
		apply(t, other, true, smallstate.Change{Bucket: "b", Key: key, Old: []byte(value), New: []byte("2")})
		get(t, s, "b", key, "2")
		apply(t, s, true, smallstate.Change{Bucket: "b", Key: key, Old: []byte("2"), New: []byte("2")})
		get(t, s, "b", key, "2")
		apply(t, s, true, smallstate.Change{Bucket: "b", Key: key, Old: []byte("2"), New: []byte{}})
		get(t, other, "b", key, "")
	}
	large := strings.Repeat("large", 1<<18)
	apply(t, s, true, smallstate.Change{Bucket: "b", Key: "large", New: []byte(large)})
	get(t, s, "b", "large", large)
	b := smallstate.Bucket{Store: s, Name: "b"}
	for range 2 {
		if err := b.Delete(t.Context(), "large"); err != nil {
			t.Error(err)
		}
	}
	get(t, s, "b", "large", "")
}

// Either all changes are made, or none.
func testAllOrNothing(t *testing.T, open func() smallstate.Store) {
	s := open()
	apply(t, s, true, smallstate.Change{Bucket: "b", Key: "1", New: []byte("x")}, smallstate.Change{Bucket: "c", Key: "1", New: []byte("y")})
	apply(t, s, false,
		smallstate.Change{Bucket: "b", Key: "2", New: []byte("x")},
		smallstate.Change{Bucket: "b", Key: "1", Old: []byte("x")},
		smallstate.Change{Bucket: "c", Key: "1", Old: []byte("no"), New: []byte("z")})
	get(t, s, "b", "2", "")
	get(t, s, "b", "1", "x")
	get(t, s, "c", "1", "y")
	apply(t, s, true,
		smallstate.Change{Bucket: "b", Key: "1", Old: []byte("x")},
		smallstate.Change{Bucket: "c", Key: "1", Old: []byte("y"), New: []byte("z")})
	get(t, s, "b", "1", "")
	get(t, s, "c", "1", "z")
}

// Of many at once, one adds a value.
func testOneAdds(t *testing.T, open func() smallstate.Store) {
	stores := []smallstate.Store{open(), open()}
	for key := range 10 {
		var all sync.WaitGroup
		var won atomic.Int32
		for i := range 16 {
			all.Go(func() {
				added, err := smallstate.Bucket{Store: stores[i%2], Name: "b"}.Add(t.Context(), strconv.Itoa(key), []byte{byte(i)})
				if err != nil {
					t.Error(err)
				}
				if added {
					won.Add(1)
				}
			})
		}
		if all.Wait(); won.Load() != 1 {
			t.Errorf("%d have added one value", won.Load())
		}
	}
}

// Updates at once are all there in the end.
func testNoUpdateLost(t *testing.T, open func() smallstate.Store) {
	stores := []smallstate.Store{open(), open()}
	const updaters, each = 8, 25
	var all sync.WaitGroup
	for i := range updaters {
		all.Go(func() {
			b := smallstate.Bucket{Store: stores[i%2], Name: "b"}
			for range each {
				err := b.Update(context.Background(), "count", func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old))
					return []byte(strconv.Itoa(n + 1)), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	get(t, stores[0], "b", "count", strconv.Itoa(updaters*each))
}

// A bucket's values are listed once each, in pages, and deleted.
func testPages(t *testing.T, open func() smallstate.Store) {
	s := open()
	b := smallstate.Bucket{Store: s, Name: "b"}
	const count = 2345
	var changes []smallstate.Change
	for i := range count {
		changes = append(changes, b.Change(fmt.Sprint(i), nil, []byte{byte(i), 1}))
	}
	apply(t, s, true, append(changes, smallstate.Change{Bucket: "a", Key: "x", New: []byte("x")}, smallstate.Change{Bucket: "c", Key: "x", New: []byte("x")})...)
	list := func() (keys []string) {
		for v, err := range b.All(t.Context()) {
			i, _ := strconv.Atoi(v.Key)
			if err != nil || string(v.Value) != string([]byte{byte(i), 1}) {
				t.Errorf("%s is %q, %v", v.Key, v.Value, err)
			}
			keys = append(keys, v.Key)
		}
		return keys
	}
	keys := list()
	sorted := slices.Sorted(slices.Values(keys))
	if len(keys) != count || !slices.Equal(keys, sorted) || len(slices.Compact(sorted)) != count {
		t.Errorf("%d keys are listed", len(keys))
	}
	if page, err := s.List(t.Context(), "b", keys[9], 2); err != nil || len(page) != 2 || page[0].Key != keys[10] {
		t.Errorf("a page has %v, %v", page, err)
	}
	if err := b.DeleteIf(t.Context(), func(v smallstate.Value) bool { return v.Value[0]%2 == 0 }); err != nil {
		t.Error(err)
	}
	if left := list(); len(left) >= count*6/10 || len(left) < count*4/10 {
		t.Errorf("%d keys are left", len(left))
	}
	get(t, s, "a", "x", "x")
	get(t, s, "c", "x", "x")
}

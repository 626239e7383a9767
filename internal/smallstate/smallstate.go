// Package smallstate defines where Beam keeps what must outlive a process, and is neither a run
// nor a file that people edit: the keys of sessions, sign-outs, what was told to whom. [Memory]
// keeps it in memory, and package store in a database. Package smallstatetest holds the suite
// that both pass.
package smallstate

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
)

// A Store keeps values by bucket and key. Keys have 1 to [MaxKey] bytes; an empty value is the
// same as none. Several processes may use one store; the methods may be called from several
// goroutines. The caller must not modify what they return.
type Store interface {
	// Get returns a value, or nil if there is none.
	Get(ctx context.Context, bucket, key string) ([]byte, error)

	// List returns the values of a bucket by their keys, at most limit of them, which follow a
	// key; empty is the beginning.
	List(ctx context.Context, bucket, after string, limit int) ([]Value, error)

	// Apply makes all changes, which are of different values, or none: if a value isn't the old
	// one of its change, it reports false. They are synced when it returns. The error is
	// [ErrKeyTooLong] or the store's.
	Apply(ctx context.Context, changes ...Change) (applied bool, err error)
}

// MaxKey is how many bytes a key has at most. PostgreSQL indexes no more than 2,704.
const MaxKey = 2000

// ErrKeyTooLong means that a key has more than [MaxKey] bytes.
var ErrKeyTooLong = fmt.Errorf("a key of small state has more than %d bytes", MaxKey)

// CheckKeys returns [ErrKeyTooLong] if a change's key is too long.
func CheckKeys(changes []Change) error {
	if slices.ContainsFunc(changes, func(c Change) bool { return len(c.Key) > MaxKey }) {
		return ErrKeyTooLong
	}
	return nil
}

// A Value is a value and its key.
type Value struct {
	Key   string
	Value []byte
}

// A Change replaces a value.
type Change struct {
	Bucket, Key string
	Old, New    []byte
}

// maxChunk is about how many bytes of keys and values a chunk has at most.
const maxChunk = 1 << 20

// Chunks yields changes in chunks, each small enough for [Store.Apply].
func Chunks(changes []Change) iter.Seq[[]Change] {
	return func(yield func([]Change) bool) {
		for len(changes) > 0 {
			n, size := 0, 0
			for ; n < len(changes) && size < maxChunk; n++ {
				size += len(changes[n].Key) + len(changes[n].New)
			}
			if !yield(changes[:n]) {
				return
			}
			changes = changes[n:]
		}
	}
}

// A Bucket has the values of one purpose.
type Bucket struct {
	Store Store
	Name  string
}

// Get returns a value, or nil if there is none.
func (b Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	return b.Store.Get(ctx, b.Name, key)
}

// Change returns a change of a value in the bucket.
func (b Bucket) Change(key string, from, to []byte) Change { return Change{b.Name, key, from, to} }

// Add adds a value, and reports whether there was none: of several callers, one adds it.
func (b Bucket) Add(ctx context.Context, key string, value []byte) (added bool, err error) {
	return b.Store.Apply(ctx, b.Change(key, nil, value))
}

// Update replaces a value by what replace returns for it. If somebody else changes it meanwhile,
// replace is called again with that.
func (b Bucket) Update(ctx context.Context, key string, replace func(old []byte) ([]byte, error)) error {
	for {
		old, err := b.Get(ctx, key)
		if err != nil {
			return err
		}
		value, err := replace(old)
		if err != nil || bytes.Equal(value, old) {
			return err
		}
		if applied, err := b.Store.Apply(ctx, b.Change(key, old, value)); applied || err != nil {
			return err
		}
	}
}

// Delete deletes a value, if there is one.
func (b Bucket) Delete(ctx context.Context, key string) error {
	return b.Update(ctx, key, func([]byte) ([]byte, error) { return nil, nil })
}

// pageSize is how many values are read, or deleted, at once.
const pageSize = 1000

// All yields all values. An error is the last.
func (b Bucket) All(ctx context.Context) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		for after := ""; ; {
			page, err := b.Store.List(ctx, b.Name, after, pageSize)
			if err != nil {
				yield(Value{}, err)
				return
			}
			for _, v := range page {
				if after = v.Key; !yield(v, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
		}
	}
}

// Values returns all values.
func (b Bucket) Values(ctx context.Context) (all []Value, err error) {
	for v, err := range b.All(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// DeleteIf deletes the values that a condition selects.
func (b Bucket) DeleteIf(ctx context.Context, selects func(Value) bool) error {
	for after := ""; ; {
		page, err := b.Store.List(ctx, b.Name, after, pageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		var changes []Change
		for _, v := range page {
			if selects(v) {
				changes = append(changes, b.Change(v.Key, v.Value, nil))
			}
		}
		if len(changes) > 0 {
			applied, err := b.Store.Apply(ctx, changes...)
			if err != nil {
				return err
			}
			if !applied {
				continue // somebody else has changed one
			}
		}
		after = page[len(page)-1].Key
	}
}

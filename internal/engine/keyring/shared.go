package keyring

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/smallstate"
)

// Bucket is the bucket of small state with the wrapped keys, by run.
const Bucket = "run-keys"

// ErrOtherKey means that a key was wrapped with another key-encryption key.
var ErrOtherKey = errors.New("the key of the run's secrets can't be read: it was wrapped with another key-encryption key; give all processes the same one")

// NewShared returns the keyring with its keys in small state, for all processes that use it. Each
// is wrapped with a key-encryption key of 32 bytes (AES-256-GCM, the run's id as additional
// data). No process keeps a key: once one has deleted it, none can use it. The error is
// [ErrOtherKey] if there are keys that were wrapped with another one, or the store's.
func NewShared(ctx context.Context, s smallstate.Store, keyEncryptionKey []byte) (*Keyring, error) {
	if len(keyEncryptionKey) != keySize {
		return nil, fmt.Errorf("the key-encryption key has %d bytes; it must have %d", len(keyEncryptionKey), keySize)
	}
	aead, err := newAEAD(keyEncryptionKey)
	if err != nil {
		return nil, err
	}
	k := &shared{smallstate.Bucket{Store: s, Name: Bucket}, aead}
	found, err := s.List(ctx, Bucket, "", 1)
	if err == nil && len(found) > 0 {
		_, err = k.unwrap(found[0].Key, found[0].Value)
	}
	if err != nil {
		return nil, err
	}
	return &Keyring{keys: k}, nil
}

// shared keeps wrapped keys in small state.
type shared struct {
	bucket smallstate.Bucket
	aead   cipher.AEAD // of the key-encryption key
}

func (s *shared) unwrap(run string, wrapped []byte) ([]byte, error) {
	key, err := s.aead.Open(nil, nil, wrapped, []byte(run))
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run, ErrOtherKey)
	}
	return key, nil
}

func (s *shared) get(run string) ([]byte, error) {
	wrapped, err := s.bucket.Get(context.Background(), run)
	if err != nil || wrapped == nil {
		return nil, err
	}
	return s.unwrap(run, wrapped)
}

func (s *shared) create(run string, key []byte) ([]byte, error) {
	var stored []byte
	err := s.bucket.Update(context.Background(), run, func(old []byte) ([]byte, error) {
		if stored = old; old == nil {
			stored = s.aead.Seal(nil, nil, key, []byte(run))
		}
		return stored, nil
	})
	if err != nil {
		return nil, err
	}
	return s.unwrap(run, stored)
}

func (s *shared) delete(run string) error { return s.bucket.Delete(context.Background(), run) }

func (s *shared) runs() (ids []string, err error) {
	for v, err := range s.bucket.All(context.Background()) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, v.Key)
	}
	return ids, nil
}

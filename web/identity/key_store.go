package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/smallstate"
)

// A KeyStore keeps the keys of sessions, encrypted with the key in a file beside the store, and
// who has signed out everywhere.
type KeyStore struct {
	State smallstate.Store
	// SealFile is the file of the key, which is created when it is first needed.
	SealFile string
}

// KeysFile is the name of the file that has what [KeyStore.Export] returns: in backups, and in
// data folders of earlier versions.
const KeysFile = "session-keys.json"

// The bucket of the keys, which has one value.
const (
	keysBucket = "session-keys"
	keysKey    = "current"
)

func (s KeyStore) bucket() smallstate.Bucket {
	return smallstate.Bucket{Store: s.State, Name: keysBucket}
}

// Load returns the keys. If there are none, it creates them. The error may be a [*SealError].
func (s KeyStore) Load(ctx context.Context) (Keys, error) {
	k, found, err := s.read(ctx)
	if err != nil || found {
		return k, err
	}
	k = NewKeys()
	if err := s.add(ctx, k, nil); err != nil {
		return Keys{}, err
	}
	k, _, err = s.read(ctx) // another process may have been faster
	return k, err
}

// Check reports whether there are keys, and why they can't be read.
func (s KeyStore) Check(ctx context.Context) (found bool, err error) {
	_, found, err = s.read(ctx)
	return found, err
}

func (s KeyStore) read(ctx context.Context) (k Keys, found bool, err error) {
	sealed, err := s.bucket().Get(ctx, keysKey)
	if err != nil || sealed == nil {
		return Keys{}, false, err
	}
	raw, err := seal{s.SealFile}.decrypt(sealed)
	if err != nil {
		return Keys{}, false, err
	}
	if err := json.Unmarshal(raw, &k); err != nil || !k.isValid() {
		return Keys{}, false, errors.New("the store contains no valid session keys")
	}
	k.signOuts = signOutsIn(s.State)
	return k, true, nil
}

// add adds keys, and makes other changes, if there are no keys.
func (s KeyStore) add(ctx context.Context, k Keys, changes []smallstate.Change) error {
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	sealed, err := seal{s.SealFile}.encrypt(raw)
	if err != nil {
		return fmt.Errorf("storing the session keys: %w", err)
	}
	_, err = s.State.Apply(ctx, append(changes, s.bucket().Change(keysKey, nil, sealed))...)
	return err
}

// exportedKeys are the keys in the clear.
type exportedKeys struct {
	Keys
	// SignedOut has when people have signed out everywhere, in milliseconds of Unix time, by
	// their ids.
	SignedOut map[string]int64 `json:"signedOut,omitempty"`
}

// Export returns the keys in the clear, and the sign-outs, as JSON.
func (s KeyStore) Export(ctx context.Context) ([]byte, error) {
	k, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	e := exportedKeys{Keys: k, SignedOut: make(map[string]int64)}
	for v, err := range k.signOuts.All(ctx) {
		if err != nil {
			return nil, err
		}
		e.SignedOut[v.Key] = parseMillis(v.Value)
	}
	return json.Marshal(e)
}

// ErrNoKeys means that a text isn't what [KeyStore.Export] returns.
var ErrNoKeys = errors.New("it contains no valid session keys")

// CheckExport returns [ErrNoKeys] if a text isn't what [KeyStore.Export] returns.
func CheckExport(raw []byte) error {
	_, err := parseExport(raw)
	return err
}

func parseExport(raw []byte) (e exportedKeys, err error) {
	if err := json.Unmarshal(raw, &e); err != nil || !e.isValid() {
		return e, ErrNoKeys
	}
	return e, nil
}

// Import adds keys that Export has returned, with their sign-outs, unless the store has keys. The
// error may be [ErrNoKeys].
func (s KeyStore) Import(ctx context.Context, raw []byte) error {
	e, err := parseExport(raw)
	if err != nil {
		return err
	}
	if existing, err := s.bucket().Get(ctx, keysKey); err != nil || existing != nil {
		return err
	}
	signOuts := signOutsIn(s.State)
	var changes []smallstate.Change
	for id, at := range e.SignedOut {
		old, err := signOuts.Get(ctx, id)
		if err != nil {
			return err
		}
		if millis := formatMillis(max(at, parseMillis(old))); id != "" && !bytes.Equal(millis, old) {
			changes = append(changes, signOuts.Change(id, old, millis))
		}
	}
	return s.add(ctx, e.Keys, changes)
}

// Buckets are those of a [KeyStore]. If what they have isn't the latest, the keys must not be used
// any more: a session that was ended would be valid again.
func Buckets() []string { return []string{keysBucket, signOutsBucket} }

// CreateSeal creates the file, if there is none.
func (s KeyStore) CreateSeal() error {
	_, err := seal{s.SealFile}.encrypt(nil)
	return err
}

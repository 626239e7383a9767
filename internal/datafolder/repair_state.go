package datafolder

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web/identity"
)

// copyState copies the small state that can be read. If a sign-out may be missing, or the session
// keys can't be decrypted, these are left out, so that the next start makes new ones.
func (r *repairer) copyState(ctx context.Context, s smallstate.Store, old *store.Salvage) error {
	for chunk := range smallstate.Chunks(old.State) {
		applied, err := s.Apply(ctx, chunk...)
		for i := 0; !applied && err == nil && i < len(chunk); i++ { // a damaged store may have a value twice
			_, err = s.Apply(ctx, chunk[i])
		}
		if err != nil {
			return err
		}
	}
	if !old.StateComplete {
		r.Problems = append(r.Problems, "some of what was accepted, signed out or told can't be read")
	}
	if !old.StateComplete || old.LostCommits != 0 {
		if err := r.holdTools(ctx, s, old.State); err != nil {
			return err
		}
	}
	_, keysErr := r.keyStore(s).Check(ctx)
	_, sealed := errors.AsType[*identity.SealError](keysErr)
	if old.StateComplete && old.LostCommits == 0 && !sealed {
		return nil
	}
	for _, bucket := range identity.Buckets() {
		if err := (smallstate.Bucket{Store: s, Name: bucket}).DeleteIf(ctx, func(smallstate.Value) bool { return true }); err != nil {
			return err
		}
	}
	r.Problems = append(r.Problems, "there will be new session keys: everybody signs in again, and calls that MCP clients go on with by a state of their own can't go on")
	r.leftovers = append(r.leftovers, oldKeysFile)
	if sealed {
		r.leftovers = append(r.leftovers, sealFile)
	}
	return nil
}

// holdTools makes the tools be held back of which it isn't known any more that they were accepted.
func (r *repairer) holdTools(ctx context.Context, s smallstate.Store, state []smallstate.Change) error {
	buckets := make(map[string]bool)
	for _, c := range state {
		buckets[c.Bucket] = true
	}
	held := false
	for name := range buckets {
		is, err := policy.PinsMayBeLost(ctx, smallstate.Bucket{Store: s, Name: name})
		if err != nil {
			return err
		}
		held = held || is
	}
	if held {
		r.Problems = append(r.Problems, "tools of other servers are held back until you accept them, if it isn't known that you have: beam upstream accept")
	}
	return nil
}

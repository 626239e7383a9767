package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/photon-beam/beam/generators"
)

// photonFingerprints are digests of what callers rely on in each photon, by its name:
// what goes in, what comes out, and whether it outlives its process. Programs
// are made of different photons, and those of one name may differ.
func photonFingerprints(photons *generators.Registry) map[string]string {
	prints := make(map[string]string)
	for _, p := range photons.All() {
		raw, err := json.Marshal([]any{p.Input(), p.Output(), p.Options().Durable})
		if err != nil { // then no other is like it
			raw = fmt.Append(nil, err)
		}
		sum := sha256.Sum256(raw)
		prints[p.Name()] = hex.EncodeToString(sum[:8])
	}
	return prints
}

// missingPhotons are the names of the photons that are wanted and not offered, or
// offered otherwise.
func missingPhotons(offered, wanted map[string]string) []string {
	var lacks []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if offered[name] != wanted[name] {
			lacks = append(lacks, name)
		}
	}
	return lacks
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

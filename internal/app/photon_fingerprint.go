package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/photon-beam/beam/internal/registry"
)

// photonFingerprints returns a digest for each photon, by name, of the properties
// that callers rely on: the input schema, the output schema, and whether runs are
// durable. Two programs may have different photons with the same name.
func photonFingerprints(photons *registry.Registry) map[string]string {
	prints := make(map[string]string)
	for _, p := range photons.All() {
		raw, err := json.Marshal([]any{p.Input(), p.Output(), p.Options().Durable})
		if err != nil { // then it equals no other
			raw = fmt.Append(nil, err)
		}
		sum := sha256.Sum256(raw)
		prints[p.Name()] = hex.EncodeToString(sum[:8])
	}
	return prints
}

// missingPhotons returns the sorted names of the wanted photons that are not
// offered, or differ.
func missingPhotons(offered, wanted map[string]string) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if offered[name] != wanted[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

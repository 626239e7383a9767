package generators

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/photon-beam/beam/internal/rule"
)

func decodeTree(value json.RawMessage) (any, error) {
	tree, err := validator.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return nil, &InvalidError{Fields: []FieldError{{Message: "must be a single JSON value: " + err.Error(), Rule: rule.JSON}}}
	}
	if bad := findHugeNumbers(tree, ""); len(bad) > 0 {
		return nil, &InvalidError{Fields: bad}
	}
	return tree, nil
}

// normalizeIntegers replaces 4.0 and 4e2 by 4 and 400: they are integers to JSON
// Schema, but encoding/json doesn't decode them as such.
func normalizeIntegers(tree any) (_ any, changed bool) {
	switch v := tree.(type) {
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			return v, false
		}
		n, ok := new(big.Rat).SetString(string(v))
		if !ok || !n.IsInt() || !n.Num().IsInt64() {
			return v, false
		}
		return json.Number(n.Num().String()), true
	case []any:
		for i, e := range v {
			normalized, c := normalizeIntegers(e)
			v[i], changed = normalized, changed || c
		}
	case map[string]any:
		for name, e := range v {
			normalized, c := normalizeIntegers(e)
			v[name], changed = normalized, changed || c
		}
	}
	return tree, changed
}

// fillDefaults sets missing top-level properties to their defaults.
func (s *Schema) fillDefaults(tree any) (changed bool) {
	object, ok := tree.(map[string]any)
	if !ok {
		return false
	}
	for name, property := range s.doc.Properties {
		if _, exists := object[name]; exists || property.Default == nil {
			continue
		}
		if v, err := validator.UnmarshalJSON(bytes.NewReader(property.Default)); err == nil {
			object[name] = v
			changed = true
		}
	}
	return changed
}

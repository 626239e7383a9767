package generators

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/photon-beam/beam/internal/rawjson"
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

// findHugeNumbers returns an error for each number that a float64 can't represent,
// because computing with a number such as 1e999999 would take too long.
func findHugeNumbers(tree any, path string) []FieldError {
	var errs []FieldError
	switch v := tree.(type) {
	case json.Number:
		if !rawjson.IsOrdinaryNumber(string(v)) {
			errs = append(errs, violation(path, rule.Magnitude, "", ""))
		}
	case []any:
		for i, e := range v {
			errs = append(errs, findHugeNumbers(e, path+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			errs = append(errs, findHugeNumbers(v[name], path+"/"+pointerEscaper.Replace(name))...)
		}
	}
	return errs[:min(len(errs), maxViolations)]
}

package generators

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	infer "github.com/google/jsonschema-go/jsonschema"
)

// splitList splits the value of a tag at its commas.
func splitList(value string) []string {
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// checkChoices returns an error if there is no choice, or the same choice twice.
func checkChoices(values []string) error {
	if len(values) == 1 && values[0] == "" {
		return errors.New("has no choices")
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("has the choice %q twice", v)
		}
	}
	return nil
}

// applyChoiceTags applies the tags enum and enumTitles. Choices without titles become
// an enum. Choices with titles become what MCP specifies: oneOf for a string, and
// anyOf for a list.
func applyChoiceTags(tag reflect.StructTag, s *infer.Schema) error {
	list, ok := tag.Lookup("enum")
	if !ok {
		if _, ok := tag.Lookup("enumTitles"); ok {
			return errors.New("tag enumTitles: requires the tag enum")
		}
		return nil
	}
	target := s
	if s.Type == "array" && s.Items != nil {
		target = s.Items
	}
	if err := requireType(target, "string"); err != nil {
		return fmt.Errorf("tag enum: %w", err)
	}
	values := splitList(list)
	if err := checkChoices(values); err != nil {
		return fmt.Errorf("tag enum:%q: %w", list, err)
	}
	titles := values
	if t, titled := tag.Lookup("enumTitles"); titled {
		if titles = splitList(t); len(titles) != len(values) {
			return fmt.Errorf("tag enumTitles: %d titles for %d values", len(titles), len(values))
		}
		options := make([]*infer.Schema, len(values))
		for i, v := range values {
			options[i] = &infer.Schema{Const: new(any(v)), Title: titles[i]}
		}
		if target == s {
			s.OneOf = options
		} else {
			target.AnyOf = options
		}
		return nil
	}
	for _, v := range values {
		target.Enum = append(target.Enum, v)
	}
	return nil
}

package askdata

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Who names people who may answer a question: those with a role, or one person.
type Who struct {
	Role string `json:"role,omitempty"`
	User string `json:"user,omitempty"`
}

// The limits on what a question says of who may answer it.
const (
	MaxWho     = 32  // how many roles and people it may name
	maxWhoText = 256 // bytes of each name
)

// Check returns an error if no person or role can have the name.
func (w Who) Check() error {
	name := w.Role + w.User
	switch {
	case name == "" || w.Role != "" && w.User != "":
		return errors.New("make each argument with ask.Role or ask.User, and a name")
	case len(name) > maxWhoText:
		return fmt.Errorf("a name has more than %d bytes", maxWhoText)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the name %q has control characters, or is not UTF-8", name)
	}
	return nil
}

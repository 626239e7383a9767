package users

import (
	"fmt"
	"slices"
	"strings"
)

// Changes are the differences between two files of users.
type Changes struct {
	Texts []string // each in words, as in "ada: token laptop revoked"
}

// Compare returns the differences between two files.
func Compare(before, after *File) (c Changes) {
	for _, u := range after.Users {
		old := before.User(u.Name)
		if old == nil {
			c.addf("%s: added", u.Name)
			old = &User{Name: u.Name}
		}
		c.compareUsers(old, u)
	}
	for _, u := range before.Users {
		if after.User(u.Name) == nil {
			c.addf("%s: removed", u.Name)
		}
	}
	return c
}

func (c *Changes) compareUsers(before, after *User) {
	if !slices.Equal(before.Roles, after.Roles) {
		c.addf("%s: roles are now %q, and were %q", after.Name, strings.Join(after.Roles, ", "), strings.Join(before.Roles, ", "))
	}
	if before.Disabled != after.Disabled {
		c.addf("%s: %s", after.Name, map[bool]string{true: "disabled", false: "enabled"}[after.Disabled])
	}
	for _, t := range after.Tokens {
		switch old := before.Token(t.Name); {
		case old == nil:
			c.addf("%s: token %s added", after.Name, t.Name)
		case old.SHA256 != t.SHA256:
			c.addf("%s: token %s replaced", after.Name, t.Name)
		case !old.Expires.Equal(t.Expires):
			c.addf("%s: token %s has another expiry", after.Name, t.Name)
		}
	}
	for _, t := range before.Tokens {
		if after.Token(t.Name) == nil {
			c.addf("%s: token %s revoked", after.Name, t.Name)
		}
	}
}

func (c *Changes) addf(format string, args ...any) {
	c.Texts = append(c.Texts, fmt.Sprintf(format, args...))
}

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/users"
)

// userCommand manages the file of users.
type userCommand struct {
	Add     userAddCommand     `cmd:"" help:"Add a person, and print a token with which they sign in."`
	List    userListCommand    `cmd:"" help:"List the people and their tokens."`
	Token   userTokenCommand   `cmd:"" help:"Make a further token for a person, and print it."`
	Revoke  userRevokeCommand  `cmd:"" help:"Revoke a person's token: whoever has signed in with it is signed out at once."`
	Disable userDisableCommand `cmd:"" help:"Disable a person, who is signed out at once, or enable them again."`
}

// Help returns what --help says besides the commands.
func (*userCommand) Help() string {
	return `The people are in a file that can be edited by hand, too. A running ${program} serve --users FILE follows at once. The file has only digests of tokens: a token is shown once, when it is made.

    ${program} user add ada --role ops --users people.json
    ${program} user token ada ci --expires 90d --users people.json
    ${program} user revoke ada ci --users people.json

People sign in with a token on the sign-in page; programs and MCP clients send it as 'Authorization: Bearer TOKEN'. The role operator sees, answers and stops the runs of everyone.`
}

// usersFlag names the file of users.
type usersFlag struct {
	Users string `required:"" placeholder:"FILE" type:"path" help:"File of the people."`
}

// userAddCommand adds a person.
type userAddCommand struct {
	Name    string            `arg:"" help:"The person's name: a-z 0-9 . _ @ + -."`
	Role    []string          `env:"-" placeholder:"ROLE" help:"A role of the person, such as operator. Can be repeated."`
	Expires *command.Duration `env:"-" placeholder:"TIME" help:"How long the token is valid, as in 90d. By default, until it is revoked."`
	NoToken bool              `env:"-" help:"Make no token, for people whom a proxy names."`

	usersFlag
}

// firstToken is the name of the token that a new person gets.
const firstToken = "first"

// Run adds the person.
func (c *userAddCommand) Run(p *command.Program) error {
	var text string
	err := users.Edit(c.Users, func(f *users.File) error {
		if err := users.CheckName(c.Name); err != nil {
			return err
		}
		if f.User(c.Name) != nil {
			return fmt.Errorf("there is a person %s already: %s user token makes a further token", c.Name, p.Command)
		}
		u := &users.User{Name: c.Name, Roles: c.Role}
		f.Users = append(f.Users, u)
		if !c.NoToken {
			text = addToken(u, firstToken, c.Expires)
		}
		return nil
	})
	return printToken(p, text, err)
}

// addToken gives a user a new token, and returns it.
func addToken(u *users.User, name string, validFor *command.Duration) string {
	var expires time.Time
	if validFor != nil {
		expires = time.Now().Add(time.Duration(*validFor))
	}
	text, t := users.NewToken(name, time.Now(), expires)
	u.Tokens = append(u.Tokens, t)
	return text
}

// printToken prints a token, if there is one and no error.
func printToken(p *command.Program, text string, err error) error {
	if err != nil || text == "" {
		return err
	}
	p.Messagef("the token is shown only now:")
	_, err = fmt.Fprintln(p.Stdout, text)
	return err
}

// userListCommand lists the people.
type userListCommand struct{ usersFlag }

// Run prints the people.
func (c *userListCommand) Run(p *command.Program) error {
	f, err := users.Load(c.Users)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tROLES\tSTATE\tTOKENS")
	for _, u := range f.Users {
		state := "enabled"
		if u.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.Name, strings.Join(u.Roles, ", "), state, describeTokens(u))
	}
	return w.Flush()
}

func describeTokens(u *users.User) string {
	var texts []string
	for _, t := range u.Tokens {
		text := t.Name
		switch {
		case t.Expired(time.Now()):
			text += " (expired)"
		case !t.Expires.IsZero():
			text += " (until " + t.Expires.Local().Format(time.DateOnly) + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// userTokenCommand makes a token.
type userTokenCommand struct {
	Name    string            `arg:"" help:"The person's name."`
	Token   string            `arg:"" help:"What to call the token, such as laptop."`
	Expires *command.Duration `env:"-" placeholder:"TIME" help:"How long the token is valid, as in 90d. By default, until it is revoked."`

	usersFlag
}

// Run makes the token.
func (c *userTokenCommand) Run(p *command.Program) error {
	var text string
	err := editUser(c.Users, c.Name, func(u *users.User) error {
		if u.Token(c.Token) != nil {
			return fmt.Errorf("%s has a token %s already: revoke it first, or choose another name", c.Name, c.Token)
		}
		text = addToken(u, c.Token, c.Expires)
		return nil
	})
	return printToken(p, text, err)
}

// editUser changes one user.
func editUser(path, name string, change func(*users.User) error) error {
	return users.Edit(path, func(f *users.File) error {
		u := f.User(name)
		if u == nil {
			return fmt.Errorf("there is no person %q", name)
		}
		return change(u)
	})
}

// userRevokeCommand revokes tokens.
type userRevokeCommand struct {
	Name  string `arg:"" help:"The person's name."`
	Token string `arg:"" optional:"" help:"The token's name."`
	All   bool   `env:"-" help:"Revoke all of the person's tokens."`

	usersFlag
}

// Validate checks the flags; kong calls it.
func (c *userRevokeCommand) Validate() error {
	if (c.Token == "") == !c.All {
		return errors.New("name one token, or revoke them --all")
	}
	return nil
}

// Run revokes the tokens.
func (c *userRevokeCommand) Run() error {
	return editUser(c.Users, c.Name, func(u *users.User) error {
		if !c.All && u.Token(c.Token) == nil {
			return fmt.Errorf("%s has no token %q", c.Name, c.Token)
		}
		u.Tokens = slices.DeleteFunc(u.Tokens, func(t *users.Token) bool { return c.All || t.Name == c.Token })
		return nil
	})
}

// userDisableCommand disables a person.
type userDisableCommand struct {
	Name string `arg:"" help:"The person's name."`
	Undo bool   `env:"-" help:"Enable the person again."`

	usersFlag
}

// Run disables the person, or enables them.
func (c *userDisableCommand) Run() error {
	return editUser(c.Users, c.Name, func(u *users.User) error {
		u.Disabled = !c.Undo
		return nil
	})
}

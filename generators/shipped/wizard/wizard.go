// Package wizard provides the photon wizard: several questions in turn, and a side effect
// between them that happens once even if the process restarts while a question is open.
package wizard

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks three questions and reserves a number between the second and the third.
var Photon = generators.New("wizard", runWizard, &generators.Options{
	Title:       "Setup wizard",
	Group:       "Examples",
	Description: "Asks the user for a name, an email address and a role, reserves a number, and asks the user to confirm all of it. A demonstration: it creates no account.",
	Durable:     true,
	Forms:       []func() error{ask.Fits[Account]},
	Asks:        true,
})

// Account is the second question.
type Account struct {
	Email string `json:"email" title:"Email" format:"email" maxLength:"254"`
	Role  string `json:"role" title:"Role" enum:"viewer,editor,admin" enumTitles:"Viewer,Editor,Administrator"`
}

// Registration is the answers and the reserved number.
type Registration struct {
	Name        string `json:"name"`
	Email       string `json:"email"`
	Role        string `json:"role"`
	Confirmed   bool   `json:"confirmed"`
	Reservation string `json:"reservation"`
}

func runWizard(_ context.Context, _ struct{}, yield generators.Yield) (Registration, error) {
	var r Registration
	var err error
	if r.Name, err = ask.Text(yield, "name", "What is your name?", ask.Title("Name"), ask.Length(1, 80)); err != nil {
		return r, err
	}
	account, err := ask.Form[Account](yield, "account", "Which account should "+r.Name+" get?")
	if err != nil {
		return r, err
	}
	r.Email, r.Role = account.Email, account.Role
	if r.Reservation, err = generators.Step(yield, "reserve", drawNumber); err != nil {
		return r, err
	}
	yield(generators.Status("Reserved " + r.Reservation))
	r.Confirmed, err = ask.Confirm(yield, "confirm",
		fmt.Sprintf("%s <%s>, as %s, with reservation %s: is this correct?", r.Name, r.Email, r.Role, r.Reservation),
		ask.Title("Everything is correct"), ask.Verbs("Confirm", "Reject"))
	return r, err
}

// drawNumber returns eight random digits that can't be guessed.
func drawNumber(context.Context) (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", fmt.Errorf("drawing a reservation number: %w", err)
	}
	return fmt.Sprintf("%08d", n), nil
}

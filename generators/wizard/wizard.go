// Package wizard ships the photon wizard: several questions in turn, and a side
// effect between them that happens once even if the process restarts while a
// question waits.
package wizard

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks three questions and draws a number between the second and third.
var Photon = generators.New("wizard", runWizard, &generators.Options{
	Title:       "Set-up wizard",
	Description: "Asks for a name, then for an account, reserves a number and has all of it confirmed. A demonstration: no account is made.",
	Durable:     true,
	Forms:       []func() error{ask.Fits[Account]},
})

// Account is the second question.
type Account struct {
	Email string `json:"email" title:"E-mail" format:"email" maxLength:"254"`
	Role  string `json:"role" title:"Role" enum:"viewer,editor,admin" enumTitles:"Viewer,Editor,Administrator"`
}

// Registration is all that was answered, and the number that was drawn.
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
	account, err := ask.Form[Account](yield, "account", "Which account shall "+r.Name+" get?")
	if err != nil {
		return r, err
	}
	r.Email, r.Role = account.Email, account.Role
	if r.Reservation, err = generators.Step(yield, "reserve", drawNumber); err != nil {
		return r, err
	}
	yield(generators.Status("reserved " + r.Reservation))
	r.Confirmed, err = ask.Confirm(yield, "confirm",
		fmt.Sprintf("%s <%s>, as %s, with reservation %s: is that right?", r.Name, r.Email, r.Role, r.Reservation),
		ask.Title("All of it is right"), ask.Verbs("Confirm", "Not so"))
	return r, err
}

// drawNumber draws eight digits that can't be guessed.
func drawNumber(context.Context) (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", fmt.Errorf("drawing a reservation number: %w", err)
	}
	return fmt.Sprintf("%08d", n), nil
}

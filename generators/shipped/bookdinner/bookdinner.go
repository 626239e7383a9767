// Package bookdinner provides the photon book_dinner: arguments, a question, and a step
// whose outcome must not change when the run is replayed.
package bookdinner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// Photon books a table at a restaurant that doesn't exist.
var Photon = generators.New("book_dinner", book, &generators.Options{
	Title:       "Book dinner",
	Group:       "Examples",
	Description: "Books a table for dinner at Chez Claude. Asks the user for the number of guests, and returns a confirmation with its number. A demonstration: the restaurant doesn't exist.",
	Durable:     true,
	Task:        generators.TaskAfterAsking,
	Asks:        true,
})

// Dinner is the time of the reservation.
type Dinner struct {
	Date string `json:"date" title:"Date" description:"The day, such as 2026-11-22" format:"date"`
	Time string `json:"time" title:"Time" description:"The time of day, such as 19:00" pattern:"^([01]\\d|2[0-3]):[0-5]\\d$"`
}

func book(_ context.Context, in Dinner, yield generators.Yield) (string, error) {
	at, err := time.Parse(time.DateOnly+" 15:04", in.Date+" "+in.Time)
	if err != nil {
		return "", fmt.Errorf("%s %s is not a date and time such as 2026-11-22 19:00: %w", in.Date, in.Time, err)
	}
	yield(generators.Status("Checking availability for your reservation..."))
	guests, err := ask.Integer(yield, "partySize", "How many people will be dining?",
		ask.Title("Number of guests"), ask.Range(1, 20))
	if err != nil {
		return "", err
	}
	number, err := generators.Step(yield, "reserve", func(context.Context) (string, error) {
		return fmt.Sprintf("RES-%04d-%03d", at.Year(), rand.IntN(1000)), nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("✓ Reservation confirmed for %s on %s at %s at Chez Claude. Confirmation #: %s",
		humanize.CountOf(guests, "person", "people"), formatDay(at), at.Format("3:04 PM"), number), nil
}

// formatDay formats a date as people say it: November 22nd.
func formatDay(t time.Time) string {
	suffix := "th"
	if d := t.Day(); d < 11 || d > 13 {
		switch d % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return t.Format("January 2") + suffix
}

// Package githubuser provides the photon github_user, which asks one question. It is a
// short example to copy.
package githubuser

import (
	"context"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks for a GitHub user name and returns the address of the profile.
var Photon = generators.New("github_user", findProfile, &generators.Options{
	Title:       "GitHub profile",
	Group:       "Examples",
	Description: "Asks the user for a GitHub user name and returns the URL of that profile. Sends nothing to GitHub and doesn't check that the profile exists.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Asks:        true,
})

// Profile is a GitHub user's profile.
type Profile struct {
	Name string `json:"name"`
	URL  string `json:"url" format:"uri"`
}

func findProfile(_ context.Context, _ struct{}, yield generators.Yield) (Profile, error) {
	name, err := ask.Text(yield, "name", "Please provide your GitHub username",
		ask.Title("GitHub user name"),
		ask.Length(1, 39),
		ask.Pattern(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`, "must be letters and digits, with single hyphens between them"))
	if err != nil {
		return Profile{}, err
	}
	return Profile{Name: name, URL: "https://github.com/" + name}, nil
}

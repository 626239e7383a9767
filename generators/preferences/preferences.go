// Package preferences ships the photon ask_user_preferences: one form.
package preferences

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks how an operation shall behave and returns what was chosen.
var Photon = generators.New("ask_user_preferences", askPreferences, &generators.Options{
	Title:       "User preferences",
	Description: "Ask user for their preferences via elicitation",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Forms:       []func() error{ask.Fits[Preferences]},
})

// Preferences are what the form asks for. What was left blank is left out of
// their JSON; timestamps that were switched off are not blank.
type Preferences struct {
	OutputFormat      string `json:"outputFormat" title:"Output Format" description:"How should results be formatted?" enum:"json,markdown,plain"`
	Verbosity         string `json:"verbosity,omitempty" title:"Verbosity Level" enum:"minimal,normal,verbose"`
	IncludeTimestamps *bool  `json:"includeTimestamps,omitempty" title:"Include Timestamps" default:"true"`
}

func askPreferences(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	chosen, err := ask.Form[Preferences](yield, "preferences", "Please configure your preferences for this operation:")
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(chosen, "", "  ")
	return "User preferences: " + string(text), err
}

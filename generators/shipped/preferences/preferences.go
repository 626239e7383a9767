// Package preferences provides the photon ask_user_preferences, which asks one form.
package preferences

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks for preferences for an operation and returns them.
var Photon = generators.New("ask_user_preferences", askPreferences, &generators.Options{
	Title:       "User preferences",
	Group:       "Examples",
	Description: "Asks the user how results should be formatted, how detailed they should be, and whether they should have timestamps, and returns the answers. A demonstration: nothing is stored.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Forms:       []func() error{ask.Fits[Preferences]},
	Asks:        true,
})

// Preferences are the fields of the form. Their JSON omits blank fields, but not
// timestamps that were switched off.
type Preferences struct {
	OutputFormat      string `json:"outputFormat" title:"Output Format" description:"How should results be formatted?" enum:"json,markdown,plain"`
	Verbosity         string `json:"verbosity,omitempty" title:"Verbosity Level" enum:"minimal,normal,verbose"`
	IncludeTimestamps *bool  `json:"includeTimestamps,omitempty" title:"Include Timestamps" default:"true"`
}

func askPreferences(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	preferences, err := ask.Form[Preferences](yield, "preferences", "Please configure your preferences for this operation:")
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(preferences, "", "  ")
	return "User preferences: " + string(text), err
}

package ui

import (
	"net/url"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// Chrome is what stands around every page.
type Chrome struct {
	Title      string // of the document, if the page has none of its own
	Photons    []PhotonLink
	RecentRuns []RunLine // newest first
	OpenAsks   int       // questions that wait for this person
	Operator   bool      // the person's machine, so that nothing is missing from the lists
	SignedIn   bool      // there is something to sign out of

	Script    string // address of the Datastar bundle; empty: the pages do without
	OwnScript string // address of our own script, which does nothing without the other
	Style     string // address of the stylesheet
	Icon      string // address of the icon

	SearchQuery string
}

// A RunLine is a run as lists show it, with its input in few words.
type RunLine struct {
	engine.Info
	Input string
}

// A PhotonLink is a photon in the list beside every page.
type PhotonLink struct {
	Name    string
	Title   string
	Current bool
}

// A PhotonCard is a photon on the first page.
type PhotonCard struct {
	Name        string
	Title       string
	Description string
	Traits
	// Hidden has it left out of sight: it is not what is searched for.
	Hidden bool
}

// Traits are what a photon says about itself.
type Traits struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
	Durable     bool
}

// PhotonPage is a photon with the form that starts a run of it.
type PhotonPage struct {
	Name        string
	Title       string
	Description string
	Traits
	Fields ask.Fields
	// Values fill the fields in, in the place of their defaults, if not nil.
	Values url.Values
	Errors []generators.FieldError
}

// LoginPage is the sign-in page.
type LoginPage struct {
	Error string
	Next  string // where to go afterwards
	Token bool   // a token may be typed in
	// Program is what is typed to start the one that prints sign-in addresses.
	Program string
}

package askdata

// Package ask sets the hooks when it is initialized: its types are not known here. Package
// internal/asking has typed functions for others to call.
var (
	// NewSampleRequest returns an empty *ask.SampleRequest.
	NewSampleRequest = func() any { panic("askdata: the program lacks package ask") }
	// NewFormPrompt returns a *ask.Prompt[json.RawMessage] of a form. The options are a
	// []ask.Option.
	NewFormPrompt func(key, message string, fields Fields, options any) any
)

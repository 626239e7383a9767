package ui

// A SettingsPage is the settings, and what the server is.
type SettingsPage struct {
	Version, Address, MCP string
	Caller                string // the owner of what the person starts
	ServesMCP             bool
	Connected             []ConnectedClient
}

// themes are the color schemes; theme is as [Chrome] has it.
var themes = []struct{ value, theme, label string }{
	{"system", "", "As the system"},
	{"light", "light", "Light"},
	{"dark", "dark", "Dark"},
}

package ui

import "github.com/photon-beam/beam/generators"

type level = generators.Level

// levelClass returns the class of a level, and only ever one that the stylesheet knows.
func levelClass(l generators.Level) string {
	switch l {
	case generators.Debug, generators.Info, generators.Success, generators.Notice, generators.Warning, generators.Error:
		return string(l)
	case generators.Critical, generators.Alert, generators.Emergency:
		return "error"
	}
	return "info"
}

// levelLabel returns the word for a level that is otherwise shown by color and icon only.
func levelLabel(l generators.Level) string {
	switch levelClass(l) {
	case "success":
		return "Success"
	case "warning":
		return "Warning"
	case "error":
		return "Error"
	}
	return ""
}

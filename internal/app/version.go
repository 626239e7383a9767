package app

import "runtime/debug"

// Version returns the version of the program's main module, or "devel" if the
// build does not record it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

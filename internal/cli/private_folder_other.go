//go:build !unix

package cli

// isPrivateFolder tells whether a path is a folder of this user's alone; that is not known
// here.
func isPrivateFolder(string) bool { return false }

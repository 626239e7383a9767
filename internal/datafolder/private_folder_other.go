//go:build !unix

package datafolder

// isPrivateFolder returns false: this system doesn't say who owns a folder.
func isPrivateFolder(string) bool { return false }

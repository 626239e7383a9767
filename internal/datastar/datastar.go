// Package datastar fetches the Datastar bundle, the script with which Beam's pages
// update themselves, and adds it to programs.
package datastar

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime/debug"
)

// The names of the bundle and of its license among Beam's static files.
const (
	Script  = "vendor/datastar.js"
	License = "vendor/datastar.LICENSE.md"
)

// generateLine is the line that adds the bundle to a program in a module of its own.
const generateLine = "//go:generate go run " + command

const (
	beam    = "github.com/photon-beam/beam"
	command = beam + "/cmd/datastar"
)

// scriptSHA256 is the digest of the bundle as Fetch writes it.
const scriptSHA256 = "9a730537fd110abc018b13b9329fa4cabca71aa79b459b8d1e83c5f27a940475"

// IsScript reports whether script is the bundle that Beam's pages are written for.
func IsScript(script string) bool {
	sum := sha256.Sum256([]byte(script))
	return hex.EncodeToString(sum[:]) == scriptSHA256
}

// HowToAdd returns a sentence that says how to add the bundle to this program.
func HowToAdd() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != beam {
		return "To add it, write the line " + generateLine + " in the program's package main, run go generate, and build the program again."
	}
	return "To add it, run go generate ./static in Beam's source, and build the program again."
}

// Command beam runs tools that stop to ask, and serves the playground where
// people answer them.
//
// Usage:
//
//	beam [command] [flags]
//
// "beam --help" is the manual.
package main

import (
	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators/shipped"
)

func main() { beam.Main(shipped.Photons()...) }

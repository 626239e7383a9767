// Package driver has what drivers of photons need of package generators, and its authors don't.
package driver

import "github.com/photon-beam/beam/generators"

// CallOf returns the call that an event is. It reports false for other events.
func CallOf(e generators.Event) (*generators.Call, bool) {
	c, ok := e.(*generators.Call)
	return c, ok
}

// Package ui renders Beam's pages: whole documents, and the parts that change while
// a run is live. Its functions take data and return templ components; they know
// nothing of requests, sessions or streams.
//
// Every text from a photon, model, person or upstream is escaped or sanitized here,
// and none becomes part of an attribute that Datastar evaluates. Patches contain no
// carriage returns, which would end a line of a server-sent event: render patches
// only through [Patch.Component], and forms only through this package's functions.
package ui

//go:generate go tool templ generate -path .

// Package ui renders Beam's pages: whole documents, and the parts of them that
// change while a run goes on. It takes data and returns templ components; it
// knows no requests, sessions or streams.
//
// Every text from a tool, model, person or upstream is escaped or sanitised
// here, and none is ever written into an attribute that Datastar evaluates.
// What Datastar patches carry no carriage return, which would end a line of a
// server-sent event: render patches through [Patch.Component] and forms through
// the functions of this package only.
package ui

//go:generate go tool templ generate -path .

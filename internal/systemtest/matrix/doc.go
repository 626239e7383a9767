// Package matrix tests what Beam promises of every question: however it travels and
// whoever answers it, the tool gets only the first answer, and everyone else who was
// asked is notified.
package matrix

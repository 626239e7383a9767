//go:build race

package interop_test

// The tests build the program with the race detector, too.
const race = true

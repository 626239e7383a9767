//go:build race

package interop_test

// The program is built as its tests are.
const race = true

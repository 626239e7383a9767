//go:build !race

package interop_test

const race = false

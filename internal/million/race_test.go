//go:build race

package million

// racing: the race detector takes many times the memory and the time.
const racing = true

//go:build race

package million

// raceEnabled is set because the race detector takes many times the memory and
// the time.
const raceEnabled = true

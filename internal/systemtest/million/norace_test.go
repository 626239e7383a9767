//go:build !race

package million

const raceEnabled = false

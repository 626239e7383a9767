//go:build !linux && !darwin && !freebsd

package diskspace

import "math"

// freeSpace is not known here: a full disk is found when it is met.
func freeSpace(string) (int64, error) { return math.MaxInt64 / 2, nil }

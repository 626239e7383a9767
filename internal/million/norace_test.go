//go:build !race

package million

const racing = false

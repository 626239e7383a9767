// Package passthrough tests Beam as a gateway, with official clients behind it: what an
// upstream asks, reports and returns reaches a client of every version by that client's
// own means, also through two Beams.
package passthrough

// Package gateway tests Beam as a gateway: the real program, between upstreams of
// other makers, or upstreams that misbehave, and a client.
package gateway

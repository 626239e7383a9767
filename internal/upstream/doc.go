// Package upstream offers the tools of other MCP servers as photons. A policy decides
// for each upstream which of its tools are offered, to whom, how often they may be
// called, and what the upstream may ask.
package upstream

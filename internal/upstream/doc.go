// Package upstream connects to other MCP servers, and offers their tools as photons, as package
// policy permits.
package upstream

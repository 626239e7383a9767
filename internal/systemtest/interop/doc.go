// Package interop tests Beam as an MCP server with real processes, pipes and sockets.
// The clients are those of the official Go SDK and of mcp-go; the tests with the
// official TypeScript SDKs are in interop/ at the top of the repository. What no client
// library sends, the tests send byte by byte.
package interop

// Package interop holds the tests of Beam as an MCP server in which everything
// is real: the process, its pipes and sockets, and the clients, which are the
// official Go SDK's and mcp-go's. Those of the official TypeScript SDKs are
// under interop/ at the top of the repository. What no client library sends is
// sent byte by byte.
package interop

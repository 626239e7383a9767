// Package llm sends requests to models at OpenAI-compatible endpoints, local or
// hosted: the Chat Completions API with streaming, which every common model server
// speaks. It reads which models there are from a file, chooses among them by a
// request's hints and priorities, and turns MCP sampling requests into the bytes that
// are sent. It knows no log and no page.
package llm

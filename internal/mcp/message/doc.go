// Package message holds the JSON-RPC 2.0 envelope of MCP, and the one translation
// from a run's log to MCP messages. Every surface that speaks JSON-RPC uses it,
// so that a run looks the same to every client.
//
// A [Translator] turns events into notifications/progress and
// notifications/message, questions into elicitation/create,
// sampling/createMessage and roots/list requests, settlements into
// notifications/cancelled, and the end of the run into the result of tools/call.
// Each kind of event and of question has one entry, in eventForms and askForms.
package message

package mcp

import "errors"

// A messageSender sends the messages of one request: on the stream of its response, or
// on the only stream of stdio. Its methods may be called concurrently.
type messageSender interface {
	// send writes a message and returns once it is written, so that messages keep their
	// order. A client can resume after cursor, which may be empty. The error is
	// errClientGone.
	send(cursor string, message []byte) error
	// setResumeCursor sets what a client that has received no message yet resumes
	// after.
	setResumeCursor(cursor string)
}

// errClientGone is returned when a message can't be sent to the client any more.
var errClientGone = errors.New("the client is gone")

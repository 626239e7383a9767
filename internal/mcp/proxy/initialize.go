package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// initializeTimeout is how long a new backend may take to initialize.
const initializeTimeout = 10 * time.Second

// initializeBackend repeats the client's initialization to a new backend. The client
// receives only a notification that the list of tools may have changed.
func (p *runningProxy) initializeBackend(b Backend, in *bufio.Reader) error {
	requests, initialized, ok := p.session.initialization()
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), initializeTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { b.Close() })()
	for i, request := range requests {
		if request == nil {
			continue
		}
		if err := p.replayRequest(b, in, request); err != nil {
			return fmt.Errorf("introducing the client to another Beam: %w", err)
		}
		if i == 0 && initialized != nil {
			if _, err := b.Write(append(initialized, '\n')); err != nil {
				return err
			}
		}
	}
	p.send(message.Outgoing{Method: mcp.MethodNotificationToolsListChanged})
	return nil
}

// replayRequest repeats a request of the client and consumes its response.
func (p *runningProxy) replayRequest(b Backend, in *bufio.Reader, request []byte) error {
	sent := parseLine(request)
	if _, err := b.Write(append(request, '\n')); err != nil {
		return err
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		received := parseLine(line)
		switch {
		case line[0] == NoticePrefix:
			p.HandleNotice(bytes.TrimSpace(line[1:]))
		case len(received) != 1 || received[0].Method != "" || !bytes.Equal(received[0].ID, sent[0].ID):
			p.writer.SendAsync(bytes.TrimSpace(line))
		case received[0].Error != nil:
			return fmt.Errorf("the response is an error: %s", received[0].Error)
		default:
			return nil
		}
	}
}

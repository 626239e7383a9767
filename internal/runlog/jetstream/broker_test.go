package jetstream

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A slowServer is a NATS server that takes half a minute to accept a connection.
type slowServer struct{}

func (slowServer) InProcessConn() (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		time.Sleep(30 * time.Second) // in a bubble
		fmt.Fprintf(here, "INFO {\"max_payload\":1048576}\r\n")
		for lines := bufio.NewScanner(here); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "PING") {
				fmt.Fprintf(here, "PONG\r\n")
			}
		}
	}()
	return there, nil
}

// TestSlowServerIsWaitedFor checks that a log can be opened on a machine on which even a
// connection within the process takes long.
func TestSlowServerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, err := connectInProcess(slowServer{})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})
}

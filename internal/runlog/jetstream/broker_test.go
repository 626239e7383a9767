package jetstream

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
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

// TestReadsOutliveARestart checks that what reads while the server is restarted waits for
// that, and that no other error is taken for it.
func TestReadsOutliveARestart(t *testing.T) {
	l, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), "r", 0, runlog.Entry{Kind: "status"}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is full")
	tries := 0
	err = l.withBroker(func(b *broker) error {
		if tries++; tries == 1 {
			l.restartLock.Lock()
			b.fail(broken)
			b.stop(broken)
			go func() {
				defer l.restartLock.Unlock()
				if _, err := l.restartBroker(t.Context(), b); err != nil {
					t.Error(err)
				}
			}()
		}
		tail, err := b.readTail(t.Context(), "r")
		if err == nil && tail.lastSeq != 1 {
			t.Errorf("the run ends with entry %d", tail.lastSeq)
		}
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	if err := l.withBroker(func(*broker) error { tries++; return broken }); err != broken || tries != 1 {
		t.Errorf("another error is returned after %d tries as %v", tries, err)
	}
}

package programtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// lastPort is the last port that this process tried. Others begin elsewhere.
var lastPort atomic.Int32

func init() { lastPort.Store(10_000 + int32(os.Getpid()*61%9_000)) }

// FreeAddress returns an address of loopback on which nothing listens. No system gives its
// port to who asks for any free port, so it stays free until a program listens on it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	address, err := FindFreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// FindFreeAddress is [FreeAddress] outside of tests.
func FindFreeAddress() (string, error) {
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address, nil
		}
	}
	return "", errors.New("there is no free port")
}

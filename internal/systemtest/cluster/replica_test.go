package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

// The test's program is also the program of replicas, which do nothing but ask the database.
func TestMain(m *testing.M) {
	if os.Getenv("BEAM_TEST_REPLICA") == "" {
		os.Exit(m.Run())
	}
	flags := flag.NewFlagSet("replica", flag.ExitOnError)
	store, addr := flags.String("store", "", ""), flags.String("addr", "", "")
	for _, name := range []string{"data", "url", "trusted-proxy", "secrets-key-file"} {
		flags.String(name, "", "")
	}
	_ = flags.Parse(os.Args[2:])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("Beam listens on http://%s\n", *addr)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := pgx.Connect(r.Context(), *store)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		c.Close(r.Context())
		fmt.Fprint(w, os.Getpid())
	})}
	context.AfterFunc(ctx, func() { server.Close() })
	_ = server.Serve(l)
}

// A cluster starts, and each replica is killed, terminated and frozen, at the same address.
func TestCluster(t *testing.T) {
	t.Setenv("BEAM_TEST_REPLICA", "1")
	c, err := cluster.Start(t.Context(), cluster.Options{Program: os.Args[0], Replicas: 2, Token: "a token of 16 bytes"})
	if errors.Is(err, cluster.ErrNotInstalled) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		for _, r := range c.Replicas {
			if r.Freeze() == nil {
				t.Error("a replica outlives the cluster")
			}
		}
	}()
	r := c.Replicas[0]
	first, address := r.PID(), r.Address()
	if status, pid := get(t, "http://"+address); status != http.StatusOK || pid != fmt.Sprint(first) {
		t.Fatalf("%d %s", status, pid)
	}
	if status, said := get(t, c.URL); status != http.StatusOK {
		t.Fatalf("%d %s through the proxy", status, said)
	}
	c.Links[0][0].Cut()
	if status, said := get(t, "http://"+address); status != http.StatusInternalServerError {
		t.Errorf("%d %s of a replica without the database", status, said)
	}
	if status, said := get(t, "http://"+c.Replicas[1].Address()); status != http.StatusOK {
		t.Errorf("%d %s of a replica whose link isn't cut", status, said)
	}
	if err := c.Links[0][0].Restore(); err != nil {
		t.Fatal(err)
	}

	if err := errors.Join(r.Kill(), r.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Terminate(t.Context()), r.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	if r.Address() != address || r.PID() == first {
		t.Errorf("it came back as %d at %s", r.PID(), r.Address())
	}
	if err := r.Start(t.Context()); err == nil {
		t.Error("a replica was started twice")
	}
	if err := r.Freeze(); err != nil {
		t.Fatal(err)
	}
	frozen, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(frozen, http.MethodGet, "http://"+address, nil)
	if _, err := http.DefaultClient.Do(request); err == nil {
		t.Error("a frozen replica responds")
	}
	if err := r.Thaw(); err != nil {
		t.Fatal(err)
	}
	if status, said := get(t, "http://"+address); status != http.StatusOK {
		t.Errorf("%d %s of a thawed replica", status, said)
	}
	if err := errors.Join(r.Freeze(), r.Kill()); err != nil {
		t.Error(err)
	}
}

// A program that doesn't start says why.
func TestReplicaFails(t *testing.T) {
	r, err := cluster.NewReplica("sh", "-c", "echo it broke; exit 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "it broke") {
		t.Errorf("it starts: %v", err)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

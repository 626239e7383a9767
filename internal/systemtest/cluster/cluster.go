// Package cluster is a cluster on this machine for tests: PostgreSQL with a synchronous
// standby, replicas of Beam, a proxy in front of them, and links between them and the
// database. All of them fail as they are told.
package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Options configure a [Cluster]. Program is required.
type Options struct {
	Program  string
	Args     []string // further arguments of beam serve
	Replicas int      // 3 by default
	Token    string   // that everyone presents to Beam; at least 16 bytes
	Seed     uint64   // of the order in which the proxy chooses replicas
	Postgres PostgresOptions
	Output   io.Writer // takes what the replicas print; nil for none
}

// A Cluster is replicas behind a proxy, each with links of its own to the servers of one
// database.
type Cluster struct {
	Postgres *Postgres
	Proxy    *Proxy
	Replicas []*Replica
	// Links are those of each replica to the servers at [Postgres.Addresses].
	Links [][]*Link
	// URL is the address of the proxy.
	URL string

	dir          string
	stopChecking context.CancelFunc
}

// Start starts a cluster. It runs until Stop.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	checking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Cluster{Proxy: NewProxy(o.Seed), stopChecking: cancel}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	go c.Proxy.CheckReadiness(checking, 250*time.Millisecond)
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) (err error) {
	if _, err := exec.LookPath(o.Program); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "beam-cluster-"); err != nil {
		return err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it doesn't fail
	if err := os.WriteFile(c.keyFile(), key, 0o600); err != nil {
		return err
	}
	if c.Postgres, err = StartPostgres(ctx, o.Postgres); err != nil {
		return err
	}
	address, err := programtest.FindFreeAddress()
	if err != nil {
		return err
	}
	c.URL = "http://" + address
	if err := c.Proxy.Listen(address); err != nil {
		return err
	}
	if o.Replicas == 0 {
		o.Replicas = 3
	}
	for range o.Replicas {
		if err := c.addReplica(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) keyFile() string { return filepath.Join(c.dir, "secrets-key") }

// addReplica starts one more replica.
func (c *Cluster) addReplica(ctx context.Context, o Options) error {
	var links []*Link
	var through []string
	for _, address := range c.Postgres.Addresses() {
		l, err := NewLink(address)
		if err != nil {
			return err
		}
		links, through = append(links, l), append(through, l.Addr())
	}
	c.Links = append(c.Links, links)
	data := filepath.Join(c.dir, fmt.Sprint("replica", len(c.Replicas)+1))
	args := append([]string{"serve", "--store", DSN(through...), "--secrets-key-file", c.keyFile(), "--data", data, "--url", c.URL, "--trusted-proxy", "127.0.0.1"}, o.Args...)
	r, err := NewReplica(o.Program, args...)
	if err != nil {
		return err
	}
	r.Output, r.Env = o.Output, []string{"BEAM_SERVE_TOKEN=" + o.Token}
	c.Replicas = append(c.Replicas, r)
	if err := r.Start(ctx); err != nil {
		return err
	}
	c.Proxy.Add(r.Address())
	return nil
}

// Stop ends everything, in the order in which it depends on each other, and deletes its files.
func (c *Cluster) Stop() error {
	c.stopChecking()
	errs := []error{c.Proxy.Close()}
	for _, r := range c.Replicas {
		errs = append(errs, r.Kill())
	}
	for _, links := range c.Links {
		for _, l := range links {
			l.Close()
		}
	}
	if c.Postgres != nil {
		errs = append(errs, c.Postgres.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

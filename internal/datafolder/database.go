package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/replica"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/postgres"
)

// A database has the runs, their files, keys and small state of processes that share it. Each of these
// has a folder of its own, for its socket, its audit file, and copies of files.
type database struct{ at, keyFile string }

// secretsKeySize is the size of the key that encrypts other keys, in bytes.
const secretsKeySize = 32

// UseDatabase keeps what is shared in a database; see [postgres.Parse]. The key in a file encrypts
// keys there, because the database isn't private. It must be called before the store is opened.
func (f *Folder) UseDatabase(at, keyFile string) error {
	if _, err := postgres.Parse(at); err != nil {
		return err
	}
	if err := CheckSecretsKey(keyFile); err != nil {
		return err
	}
	f.database = &database{at, keyFile}
	return nil
}

// CheckSecretsKey returns an error unless a file has a key as UseDatabase takes.
func CheckSecretsKey(keyFile string) error {
	key, err := os.ReadFile(keyFile)
	switch {
	case keyFile == "":
		return errors.New("the keys in a database are encrypted: make a key once (head -c 32 /dev/urandom > secrets-key), and give its file to all processes that share the database")
	case err != nil:
		return fmt.Errorf("the key that encrypts the keys in the database: %w", err)
	case len(key) != secretsKeySize:
		return fmt.Errorf("%s has %d bytes: want a key of %d random bytes", keyFile, len(key), secretsKeySize)
	}
	return nil
}

// IsShared reports whether other processes share what is stored.
func (f *Folder) IsShared() bool { return f.database != nil }

func (d *database) open(ctx context.Context, blobs *blob.Store, logger *slog.Logger) (*Store, error) {
	id, lock := replica.NewID()
	s, err := store.OpenPostgres(ctx, d.at, lock, store.Options{Blobs: blobs, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("can't open the store in the database: %w", err)
	}
	keys, err := d.openKeys(ctx, s.State())
	if err == nil {
		err = checkDatabaseRestored(ctx, s.State())
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	blobs.Share(s.Blobs())
	trimming, stop := context.WithCancel(context.Background())
	go trim(trimming, blobs, logger)
	closeStore := func() error { stop(); return s.Close() }
	return &Store{Store: s, State: s.State(), Worker: id, Sharing: s.Sharing(), Keys: keys, Close: closeStore, shared: s}, nil
}

// openKeys returns the keys of secret answers in small state.
func (d *database) openKeys(ctx context.Context, s smallstate.Store) (*keyring.Keyring, error) {
	key, err := os.ReadFile(d.keyFile)
	if err != nil {
		return nil, err
	}
	keys, err := keyring.NewShared(ctx, s, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.keyFile, err)
	}
	return keys, nil
}

// Copies of files that nobody has used for trimAge are removed from the folder.
const (
	trimInterval = 10 * time.Minute
	trimAge      = time.Hour
)

// trim removes copies of files until ctx ends.
func trim(ctx context.Context, blobs *blob.Store, logger *slog.Logger) {
	tick := time.NewTicker(trimInterval)
	defer tick.Stop()
	for {
		if err := blobs.Trim(trimAge); err != nil {
			logger.Error("removing copies of files that are in the database", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

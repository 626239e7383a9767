package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
)

// WriteBackup writes a backup of the folder, whose store is s, or of its database. In a folder,
// nothing may be deleted meanwhile. In a database anything may: the backup is one snapshot.
func (f *Folder) WriteBackup(ctx context.Context, w io.Writer, s *Store, version string) error {
	if f.database == nil {
		return backup.Write(ctx, w, f.backupParts(s, s.State), version)
	}
	if _, err := f.KeyStore(s.State).Load(ctx); err != nil { // creates them
		return err
	}
	temp, err := OpenTemporary() // for a file at a time
	if err != nil {
		return err
	}
	err = s.shared.Snapshot(ctx, func(at *store.Store) error {
		keys, err := f.database.openKeys(ctx, at.State())
		if err != nil {
			return err
		}
		temp.Blobs.Share(at.Blobs())
		return backup.Write(ctx, w, backup.Parts{Log: at, Blobs: temp.Blobs, Keys: keys, SessionKeys: f.KeyStore(at.State())}, version)
	})
	return errors.Join(err, temp.Close())
}

// OpenDatabase opens a temporary folder that uses a database; see [Folder.UseDatabase].
func OpenDatabase(at, keyFile string) (*Folder, error) {
	f, err := OpenTemporary()
	if err != nil {
		return nil, err
	}
	if err := f.UseDatabase(at, keyFile); err != nil {
		return nil, errors.Join(fmt.Errorf("--store: %w", err), f.Close())
	}
	return f, nil
}

// RestoreDatabase restores a backup to the database of a folder, which must be empty, as [Restore]
// does to a folder.
func (f *Folder) RestoreDatabase(ctx context.Context, r io.Reader, partial bool, logger *slog.Logger) (sum backup.Summary, damage, err error) {
	s, err := f.OpenStore(ctx, store.SyncDefault, logger)
	if err != nil {
		return sum, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := markDatabase(ctx, s); err != nil {
		return sum, nil, err
	}
	parts := backup.Parts{Log: s, Blobs: f.Blobs, Keys: s.Keys, SessionKeys: f.KeyStore(s.State)}
	sum, damage, err = restoreParts(ctx, r, partial, s, parts)
	if err == nil {
		err = checkUnused(ctx, s) // again: one may have begun just before the mark
	}
	if err == nil {
		err = restoring(s.State).Delete(ctx, restoreMarkFile)
	}
	if err != nil {
		return sum, nil, errors.Join(fmt.Errorf("nothing is restored: %w", err), s.Sharing.Clear(context.WithoutCancel(ctx)))
	}
	return sum, damage, nil
}

// restoring is the bucket of a mark in a database that is being restored. No process uses it then.
func restoring(s smallstate.Store) smallstate.Bucket {
	return smallstate.Bucket{Store: s, Name: "restore"}
}

// markDatabase marks an empty database.
func markDatabase(ctx context.Context, s *Store) error {
	empty, err := s.Sharing.IsEmpty(ctx)
	switch {
	case err != nil:
		return err
	case !empty:
		return errors.New("the database is not empty: restore a backup to an empty database, or to another schema of this one, which search_path=NAME selects")
	}
	if err := checkUnused(ctx, s); err != nil {
		return err
	}
	if applied, err := s.State.Apply(ctx, restoring(s.State).Change(restoreMarkFile, nil, []byte("1"))); err != nil || applied {
		return err
	}
	return errors.New("another process restores a backup to the database")
}

// checkUnused returns an error if a process uses the database.
func checkUnused(ctx context.Context, s *Store) error {
	workers, err := s.Sharing.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		if !w.Expired {
			return errors.New("a Beam uses the database: stop it")
		}
	}
	return nil
}

// checkDatabaseRestored returns an error if a database contains part of a backup.
func checkDatabaseRestored(ctx context.Context, s smallstate.Store) error {
	mark, err := restoring(s).Get(ctx, restoreMarkFile)
	if err == nil && mark != nil {
		err = errors.New("the database contains part of a backup, because a restore is in progress or was interrupted: if it was, create the database again, and restore the backup again")
	}
	return err
}

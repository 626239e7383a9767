package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/internal/webhook"
	"github.com/photon-beam/beam/web/identity"
)

// Earlier versions kept small state in files of their own. The first start of this one copies
// them to the store, and deletes them once it can't be undone; see [UndoMigration].
const (
	oldMarksFolder = "told"             // an empty file for each mark
	oldAsksFile    = "webhook-asks"     // a line for each question that the webhook was told of
	oldUsageFile   = "model-usage.json" // what models were used for
	oldPinsFolder  = "upstreams"        // a file for each upstream
	oldKeysFile    = identity.KeysFile  // session keys and sign-outs
)

// oldState is what the files have.
type oldState struct {
	keys    []byte // nil if there is no file
	buckets map[string]map[string][]byte
	files   []string // their names in the folder; a folder follows its files
}

func (o *oldState) add(bucket string, values ...smallstate.Value) {
	if o.buckets == nil {
		o.buckets = make(map[string]map[string][]byte)
	}
	if o.buckets[bucket] == nil {
		o.buckets[bucket] = make(map[string][]byte)
	}
	for _, v := range values {
		o.buckets[bucket][v.Key] = v.Value
	}
}

// readOldState reads the files of an earlier version.
func (f *DataFolder) readOldState(logger *slog.Logger) (o oldState, err error) {
	for _, read := range []func(*oldState, *slog.Logger) error{f.readOldKeys, f.readOldMarks, f.readOldAsks, f.readOldUsage, f.readOldPins} {
		if err := read(&o, logger); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return o, folderError(err)
		}
	}
	return o, nil
}

// readOldFile reads a file, which is to be deleted.
func (f *DataFolder) readOldFile(o *oldState, name string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(f.dir, name))
	if err == nil {
		o.files = append(o.files, name)
	}
	return raw, err
}

func (f *DataFolder) readOldKeys(o *oldState, _ *slog.Logger) (err error) {
	if o.keys, err = f.readOldFile(o, oldKeysFile); err != nil {
		return err
	}
	if err := identity.CheckExport(o.keys); err != nil {
		return fmt.Errorf("%s contains no valid session keys; if you remove it, browsers must sign in again", filepath.Join(f.dir, oldKeysFile))
	}
	return nil
}

func (f *DataFolder) readOldMarks(o *oldState, _ *slog.Logger) error {
	entries, err := os.ReadDir(filepath.Join(f.dir, oldMarksFolder))
	for _, e := range entries {
		o.add(apps.MarksBucket, smallstate.Value{Key: e.Name(), Value: []byte{1}})
		o.files = append(o.files, filepath.Join(oldMarksFolder, e.Name()))
	}
	if err == nil {
		o.files = append(o.files, oldMarksFolder)
	}
	return err
}

func (f *DataFolder) readOldAsks(o *oldState, _ *slog.Logger) error {
	raw, err := f.readOldFile(o, oldAsksFile)
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			o.add(webhook.RecordBucket, smallstate.Value{Key: line, Value: []byte{1}})
		}
	}
	return err
}

// readOldUsage leaves a file that can't be read.
func (f *DataFolder) readOldUsage(o *oldState, logger *slog.Logger) error {
	path := filepath.Join(f.dir, oldUsageFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	values, parseErr := sampling.OldUsage(raw)
	if err := errors.Join(err, parseErr); err != nil {
		logger.Error("reading the usage of models; counting begins anew, and the file stays until you remove it", "file", path, "err", err)
		return nil
	}
	o.add(sampling.UsageBucket, values...)
	o.files = append(o.files, oldUsageFile)
	return nil
}

func (f *DataFolder) readOldPins(o *oldState, _ *slog.Logger) error {
	if err := atomicfile.Sweep(filepath.Join(f.dir, oldPinsFolder)); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(f.dir, oldPinsFolder))
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		values, err := f.oldPins(name)
		if err != nil {
			return err
		}
		o.add(policy.PinsBucket(name), values...)
		o.files = append(o.files, filepath.Join(oldPinsFolder, e.Name()))
	}
	if err == nil {
		o.files = append(o.files, oldPinsFolder)
	}
	return err
}

// oldPins returns what was accepted of an upstream's tools; nothing if there is no file.
func (f *DataFolder) oldPins(name string) (values []smallstate.Value, err error) {
	path := filepath.Join(f.dir, oldPinsFolder, name+".json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		values, err = policy.OldPins(raw)
	}
	if err != nil {
		err = fmt.Errorf("what was accepted of the tools of %q can't be read (remove %s to accept them as they are): %w", name, path, err)
	}
	return values, err
}

// copyOldState copies what the files have to a store, and notes which buckets are copied: what is
// removed from those later, or what an earlier version that was started by mistake writes, isn't
// copied again.
func (f *DataFolder) copyOldState(ctx context.Context, o oldState, s smallstate.Store) error {
	if o.keys != nil {
		if err := f.keyStore(s).Import(ctx, o.keys); err != nil {
			return err
		}
		f.reach("the session keys are copied")
	}
	copied := smallstate.Bucket{Store: s, Name: "old-files"}
	for bucket, values := range o.buckets {
		if done, err := copied.Get(ctx, bucket); err != nil || done != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := f.copyOldBucket(ctx, smallstate.Bucket{Store: s, Name: bucket}, values); err != nil {
			return err
		}
		f.reach("copied " + bucket)
		if _, err := copied.Add(ctx, bucket, []byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// copyOldBucket adds values to a bucket, some at a time.
func (f *DataFolder) copyOldBucket(ctx context.Context, b smallstate.Bucket, values map[string][]byte) error {
	var changes []smallstate.Change
	for _, key := range slices.Sorted(maps.Keys(values)) {
		there, err := b.Get(ctx, key) // a process was killed after it had copied that
		if err != nil {
			return err
		}
		if there == nil {
			changes = append(changes, b.Change(key, nil, values[key]))
		}
	}
	for chunk := range smallstate.Chunks(changes) {
		if _, err := b.Store.Apply(ctx, chunk...); err != nil {
			return err
		}
		f.reach("copied a part of " + b.Name)
	}
	return nil
}

// adoptOldState copies the files to the folder's store, and deletes them, unless the earlier
// version may need them again.
func (f *DataFolder) adoptOldState(ctx context.Context, o oldState, s *store.Store) error {
	if len(o.files) == 0 {
		return nil
	}
	if err := f.copyOldState(ctx, o, s.State()); err != nil {
		return err
	}
	if state, err := f.migrationState(); err != nil || state == strconv.FormatInt(s.Commits(), 10) {
		return err
	}
	// A commit syncs those before it, also that of a process that was killed before it synced.
	err := smallstate.Bucket{Store: s.State(), Name: "old-files"}.Update(ctx, "deleted", func(old []byte) ([]byte, error) { return append([]byte{1}, old...), nil })
	if err != nil {
		return err
	}
	return f.deleteOldState(o)
}

// deleteOldState deletes the files, whose content is synced.
func (f *DataFolder) deleteOldState(o oldState) error {
	for _, name := range o.files {
		err := os.Remove(filepath.Join(f.dir, name))
		isFolder := name == oldMarksFolder || name == oldPinsFolder // it may have other files
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFolder {
			return err
		}
		f.reach("deleted " + name)
	}
	return atomicfile.SyncDir(f.dir)
}

package datafolder

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
// them to the store, and deletes them once the migration can't be undone; see [UndoMigration].
const (
	oldMarksFolder = "told"             // an empty file for each mark
	oldAsksFile    = "webhook-asks"     // a line for each question that the webhook was told of
	oldUsageFile   = "model-usage.json" // what models were used for
	oldPinsFolder  = "upstreams"        // a file for each upstream
	oldKeysFile    = identity.KeysFile  // session keys and sign-outs
)

// oldFiles are what the files have.
type oldFiles struct {
	*layout
	keys    []byte // nil if there is no file
	buckets map[string]map[string][]byte
	files   []string // their names in the folder; a folder follows its files
}

// readOldFiles reads the files of an earlier version.
func readOldFiles(l *layout, logger *slog.Logger) (*oldFiles, error) {
	o := &oldFiles{layout: l, buckets: make(map[string]map[string][]byte)}
	for _, read := range []func() error{o.readKeys, o.readMarks, o.readAsks, func() error { return o.readUsage(logger) }, o.readPins} {
		if err := read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, folderError(err)
		}
	}
	return o, nil
}

func (o *oldFiles) add(bucket string, values ...smallstate.Value) {
	if o.buckets[bucket] == nil {
		o.buckets[bucket] = make(map[string][]byte)
	}
	for _, v := range values {
		o.buckets[bucket][v.Key] = v.Value
	}
}

// readFile reads a file, which is to be deleted.
func (o *oldFiles) readFile(name string) ([]byte, error) {
	raw, err := os.ReadFile(o.path(name))
	if err == nil {
		o.files = append(o.files, name)
	}
	return raw, err
}

func (o *oldFiles) readKeys() (err error) {
	if o.keys, err = o.readFile(oldKeysFile); err != nil {
		return err
	}
	if err := identity.CheckExport(o.keys); err != nil {
		return fmt.Errorf("%s contains no valid session keys; if you remove it, browsers must sign in again", o.path(oldKeysFile))
	}
	return nil
}

func (o *oldFiles) readMarks() error {
	entries, err := os.ReadDir(o.path(oldMarksFolder))
	for _, e := range entries {
		o.add(apps.MarksBucket, smallstate.Value{Key: e.Name(), Value: []byte{1}})
		o.files = append(o.files, filepath.Join(oldMarksFolder, e.Name()))
	}
	if err == nil {
		o.files = append(o.files, oldMarksFolder)
	}
	return err
}

func (o *oldFiles) readAsks() error {
	raw, err := o.readFile(oldAsksFile)
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" {
			o.add(webhook.RecordBucket, smallstate.Value{Key: line, Value: []byte{1}})
		}
	}
	return err
}

// readUsage leaves a file that can't be read.
func (o *oldFiles) readUsage(logger *slog.Logger) error {
	path := o.path(oldUsageFile)
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

func (o *oldFiles) readPins() error {
	if err := atomicfile.Sweep(o.path(oldPinsFolder)); err != nil {
		return err
	}
	entries, err := os.ReadDir(o.path(oldPinsFolder))
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		values, err := o.oldPins(name)
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
func (l *layout) oldPins(name string) (values []smallstate.Value, err error) {
	path := l.path(oldPinsFolder, name+".json")
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

// copyTo copies what the files have to a store, and notes which buckets are copied: what is
// removed from those later, or what an earlier version that was started by mistake writes, isn't
// copied again.
func (o *oldFiles) copyTo(ctx context.Context, s smallstate.Store) error {
	if o.keys != nil {
		if err := o.keyStore(s).Import(ctx, o.keys); err != nil {
			return err
		}
		o.reach("the session keys are copied")
	}
	copied := smallstate.Bucket{Store: s, Name: "old-files"}
	for bucket, values := range o.buckets {
		done, err := copied.Get(ctx, bucket)
		if err == nil && done == nil {
			err = o.copyBucket(ctx, smallstate.Bucket{Store: s, Name: bucket}, values)
			o.reach("copied " + bucket)
		}
		if err == nil && done == nil {
			_, err = copied.Add(ctx, bucket, []byte{1})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyBucket adds values to a bucket, some at a time.
func (o *oldFiles) copyBucket(ctx context.Context, b smallstate.Bucket, values map[string][]byte) error {
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
		o.reach("copied a part of " + b.Name)
	}
	return nil
}

// adopt copies the files to the folder's store, and deletes them, unless the earlier version may
// need them again.
func (o *oldFiles) adopt(ctx context.Context, s *store.Store) error {
	if len(o.files) == 0 {
		return nil
	}
	if err := o.copyTo(ctx, s.State()); err != nil {
		return err
	}
	if state, err := o.migrationState(); err != nil || state == strconv.FormatInt(s.Commits(), 10) {
		return err
	}
	// A commit syncs those before it, also that of a process that was killed before it synced.
	err := smallstate.Bucket{Store: s.State(), Name: "old-files"}.Update(ctx, "deleted", func(old []byte) ([]byte, error) { return append([]byte{1}, old...), nil })
	if err != nil {
		return err
	}
	return o.delete()
}

// delete deletes the files, whose content is synced.
func (o *oldFiles) delete() error {
	for _, name := range o.files {
		err := os.Remove(o.path(name))
		isFolder := name == oldMarksFolder || name == oldPinsFolder // it may have other files
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFolder {
			return err
		}
		o.reach("deleted " + name)
	}
	return atomicfile.SyncDir(o.Dir)
}

// UpstreamPins returns what was accepted of an upstream's tools. No [Store] of the folder may be
// open.
func (f *Folder) UpstreamPins(ctx context.Context, name string) ([]smallstate.Value, error) {
	if has, err := f.hasStore(); err != nil {
		return nil, err
	} else if !has {
		return f.oldPins(name)
	}
	bucket := policy.PinsBucket(name)
	s, err := store.ReadState(ctx, f.Dir, bucket)
	if err != nil {
		return nil, err
	}
	return smallstate.Bucket{Store: s, Name: bucket}.Values(ctx)
}

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// Delete implements [runlog.Log]. The deletion is recorded on the disk before
// any message of the run is removed.
func (l *Log) Delete(ctx context.Context, run string) error {
	b := l.broker.Load()
	if err := l.highWater.deleteRun(ctx, b, run); err != nil {
		return fmt.Errorf("deleting run %s: %w", run, b.explainError(err))
	}
	l.tails.remove(run)
	l.recent.remove(run)
	l.hubs.endRun(run)
	return nil
}

// deleteRun records the deletion of a run, and then removes its messages.
func (w *highWaterWriter) deleteRun(ctx context.Context, b *broker, run string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.recordDeletion(ctx, b, run); err != nil {
		return err
	}
	if err := b.purgeRun(ctx, run); err != nil {
		w.pendingDeletes = append(w.pendingDeletes, run) // it may have been purged nonetheless
		return err
	}
	return nil
}

// recordDeletion adds the deletion of a run to the high-water file, having
// advanced the mark past the run's messages. Callers hold mu.
func (w *highWaterWriter) recordDeletion(ctx context.Context, b *broker, run string) error {
	tail, err := b.readTail(ctx, run)
	if err == nil && (tail.streamSeq > w.mark.Last || slices.Contains(w.pendingDeletes, run)) {
		err = w.advanceLocked(ctx, b)
	}
	if err != nil || tail.streamSeq == 0 {
		return err
	}
	n, err := b.countMessages(ctx, run)
	if err != nil {
		return err
	}
	w.unmarkedBytes.Add(1) // so that the mark advances, which drops the deletion from the file
	w.fileSize, err = appendDeletion(w.dir, w.fileSize, deletion{run, n})
	return err
}

// purgeRun removes the messages of a run from the stream.
func (b *broker) purgeRun(ctx context.Context, run string, opts ...jetstream.StreamPurgeOpt) error {
	err := b.stream.Purge(ctx, append(opts, jetstream.WithPurgeSubject(subjectOf(run)))...)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}

// countMessages returns how many messages a run has.
func (b *broker) countMessages(ctx context.Context, run string) (uint64, error) {
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(subjectOf(run)))
	if err != nil {
		return 0, err
	}
	return info.State.Subjects[subjectOf(run)], nil
}

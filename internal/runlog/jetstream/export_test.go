package jetstream

import "context"

// AdvanceHighWater writes the log's high-water mark now.
func (l *Log) AdvanceHighWater(ctx context.Context) error {
	return l.highWater.advance(ctx, l.broker.Load())
}

// RecordDeletion performs the first step of Delete only.
func (l *Log) RecordDeletion(ctx context.Context, run string) error {
	l.highWater.mu.Lock()
	defer l.highWater.mu.Unlock()
	return l.highWater.recordDeletion(ctx, l.broker.Load(), run)
}

package jetstream

import "context"

// MoveMark moves the log's high-water mark now.
func (l *Log) MoveMark(ctx context.Context) error { return l.marks.move(ctx, l.broker.Load()) }

// NoteDeletion is what Delete does first.
func (l *Log) NoteDeletion(ctx context.Context, run string) error {
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.note(ctx, l.broker.Load(), run)
}

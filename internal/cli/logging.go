package cli

import "log/slog"

// newLogger returns the logger of commands that serve.
func (c *appFlags) newLogger(p *program) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

// newWarningLogger returns the logger of commands that do one thing and end. It logs
// warnings and errors only.
func newWarningLogger(p *program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// newErrorLogger returns the logger of commands whose messages are for a person who isn't
// an operator. It logs errors only.
func newErrorLogger(p *program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

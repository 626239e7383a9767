package command

import "log/slog"

// NewLogger returns the logger of commands that serve.
func (c *AppFlags) NewLogger(p *Program) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, options))
}

// NewWarningLogger returns the logger of commands that do one thing and end. It logs
// warnings and errors only.
func NewWarningLogger(p *Program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// NewErrorLogger returns the logger of commands whose messages are for a person who isn't
// an operator. It logs errors only.
func NewErrorLogger(p *Program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

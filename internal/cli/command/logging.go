package command

import (
	"log/slog"

	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/term"
)

// newBar returns the bar for work on many runs. Loggers write to it.
func (p *Program) newBar() *term.Bar {
	if p.bar == nil {
		p.bar = term.NewBar(term.NewTerminal(p.Stdin, p.Stdout, p.Stderr, false), "Reading runs")
	}
	return p.bar
}

// CopyProgress shows how far work on many runs has come, above which the loggers write; nil logs it.
func (p *Program) CopyProgress() datafolder.Progress { return p.newBar().Progress() }

// NewLogger returns the logger of commands that serve.
func (c *AppFlags) NewLogger(p *Program) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.newBar(), options))
	}
	return slog.New(slog.NewTextHandler(p.newBar(), options))
}

// NewWarningLogger returns the logger of commands that do one thing and end. It logs
// warnings and errors only.
func NewWarningLogger(p *Program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.newBar(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// NewErrorLogger returns the logger of commands whose messages are for a person who isn't
// an operator. It logs errors only.
func NewErrorLogger(p *Program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.newBar(), &slog.HandlerOptions{Level: slog.LevelError}))
}

// NewProgressLogger returns the logger of commands that may take a while and end.
func NewProgressLogger(p *Program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.newBar(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}

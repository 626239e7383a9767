package beam

import (
	"encoding"
	"fmt"
	"log/slog"
	"strings"
)

// level is a level of the log, as a flag.
type level slog.Level

var _ encoding.TextUnmarshaler = (*level)(nil)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *level) UnmarshalText(text []byte) error {
	for _, known := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(string(text), known.String()) {
			*l = level(known)
			return nil
		}
	}
	return fmt.Errorf("must be debug, info, warn or error, not %q", text)
}

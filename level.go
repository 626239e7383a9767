package beam

import (
	"encoding"
	"fmt"
	"log/slog"
	"strings"
)

// levelFlag is a level of the log, as a flag.
type levelFlag slog.Level

var _ encoding.TextUnmarshaler = (*levelFlag)(nil)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *levelFlag) UnmarshalText(text []byte) error {
	for _, known := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(string(text), known.String()) {
			*l = levelFlag(known)
			return nil
		}
	}
	return fmt.Errorf("must be debug, info, warn or error, not %q", text)
}

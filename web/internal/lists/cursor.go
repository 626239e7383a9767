package lists

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/problem"
)

// formatCursor returns the cursor of what follows an item of a list: its time and its id.
func formatCursor(p engine.Position) string {
	return strconv.FormatInt(p.At.UnixNano(), 10) + "-" + p.ID
}

// parseCursor parses the parameter after; the zero position is a list's beginning.
func parseCursor(query url.Values) (engine.Position, error) {
	cursor := query.Get("after")
	if cursor == "" {
		return engine.Position{}, nil
	}
	nanos, id, ok := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || !ok || id == "" {
		return engine.Position{}, problem.Errorf(http.StatusBadRequest, "The parameter after is not from this list. Start without it.")
	}
	return engine.Position{At: time.Unix(0, n), ID: id}, nil
}

package runcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
)

// maxJSON bounds what is read for --json and --answers, in bytes.
const maxJSON = 16_000_000

// readJSON returns the value of a flag: JSON itself, @FILE, or - for stdin.
func readJSON(p *command.Program, flag, value string) (json.RawMessage, error) {
	raw := []byte(value)
	var err error
	path, isFile := strings.CutPrefix(value, "@")
	switch {
	case value == "":
		return nil, nil
	case value == "-" || path == "-":
		raw, err = io.ReadAll(io.LimitReader(p.Stdin, maxJSON+1))
	case isFile:
		raw, err = readFileAtMost(path, maxJSON+1)
	}
	name := flag
	if isFile {
		name += " " + path
	}
	var cause *fs.PathError
	switch {
	case errors.As(err, &cause):
		return nil, command.UsageErrorf("%s can't be read: %w", name, cause.Err)
	case err != nil:
		return nil, command.UsageErrorf("%s can't be read: %w", name, err)
	case len(raw) > maxJSON:
		return nil, command.UsageErrorf("%s is larger than %s", name, humanize.Bytes(maxJSON))
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, command.UsageErrorf("%s is empty: it must be a JSON object", name)
	}
	if problem := form.SyntaxError(string(raw)); problem != "" {
		return nil, command.UsageErrorf("%s %s", name, problem)
	}
	return raw, nil
}

// readFileAtMost returns the beginning of a file.
func readFileAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// missingFields returns the required fields that have no value and no default.
func missingFields(fields askdata.Fields, args json.RawMessage) askdata.Fields {
	var members map[string]json.RawMessage
	if len(args) > 0 && json.Unmarshal(args, &members) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f askdata.Field) bool {
		_, given := members[f.Name]
		return given || !f.Required || f.Default != nil
	})
}

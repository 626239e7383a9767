package jetstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/lasting"
)

// format is the version of what is in the folder: the stream's layout and the
// messages' encoding. Other versions than ours are refused, not guessed at.
const format = 1

const formatFile = "format"

// unborn follows the format until the stream is made, so that a folder whose
// stream has gone is told from a new one.
const unborn = "unborn"

// prepare makes the folder, or checks that it is one of ours and undamaged;
// fresh tells that there is nothing in it yet.
func prepare(dir string) (fresh bool, err error) {
	if err := lasting.MakeFolder(dir); err != nil {
		return false, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, formatFile))
	_, statErr := os.Stat(filepath.Join(dir, "jetstream"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return false, fmt.Errorf("%w: %s has a log, but no file %q", ErrCorrupt, dir, formatFile)
	case errors.Is(err, fs.ErrNotExist):
		return true, writeFormat(dir, unborn)
	case err != nil:
		return false, err
	}
	number, state, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	version, err := strconv.Atoi(number)
	switch {
	case err != nil || version < 1:
		return false, fmt.Errorf("%w: %s says %.20q", ErrCorrupt, filepath.Join(dir, formatFile), raw)
	case version > format:
		return false, fmt.Errorf("%w: %s has format %d, and this version reads %d", ErrNewer, dir, version, format)
	case state == unborn:
		return true, nil
	}
	return false, verify(dir)
}

func writeFormat(dir, state string) error {
	text := strings.TrimSpace(fmt.Sprint(format, " ", state)) + "\n"
	return lasting.Write(filepath.Join(dir, formatFile), []byte(text))
}

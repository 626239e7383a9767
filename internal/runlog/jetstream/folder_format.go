package jetstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// formatVersion is the version of the folder's contents: the layout of the stream
// and the encoding of messages. Newer versions are refused. Version 2 added the
// high-water mark; opening a folder of version 1 upgrades it.
const formatVersion = 2

const formatWithoutMark = 1

const formatFileName = "format"

// stateNoStream follows the version in the format file until the stream has been
// created. It distinguishes a new folder from one whose stream is missing.
const stateNoStream = "unborn"

// readFormat reads the format version of a folder, and whether the folder is
// fresh: it has no stream yet. The error is [ErrNewerFormat], [ErrCorrupt] or the
// file system's.
func readFormat(dir string) (version int, fresh bool, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, formatFileName))
	_, statErr := os.Stat(filepath.Join(dir, "jetstream"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return 0, false, fmt.Errorf("%w: %s holds a log, but has no file %q", ErrCorrupt, dir, formatFileName)
	case errors.Is(err, fs.ErrNotExist):
		return formatVersion, true, nil
	case err != nil:
		return 0, false, err
	}
	number, state, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	version, err = strconv.Atoi(number)
	switch {
	case err != nil || version < 1:
		return 0, false, fmt.Errorf("%w: %s contains %.20q", ErrCorrupt, filepath.Join(dir, formatFileName), raw)
	case version > formatVersion:
		return 0, false, fmt.Errorf("%w: %s has format %d; this version reads up to format %d", ErrNewerFormat, dir, version, formatVersion)
	}
	return version, state == stateNoStream, nil
}

func writeFormat(dir, state string) error {
	text := strings.TrimSpace(fmt.Sprint(formatVersion, " ", state)) + "\n"
	return atomicfile.Write(filepath.Join(dir, formatFileName), []byte(text))
}

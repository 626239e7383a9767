package jetstream

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// folderState describes a log's folder before the server is started.
type folderState struct {
	fresh, marked bool
	mark          highWater
	size          int64 // of the mark's file without its last line, if that is torn or lists the blocks
	index         *blockIndex
}

// inspectFolder reads a folder without changing it. If the error is [ErrCorrupt],
// the state holds what could be read.
func inspectFolder(dir string) (folderState, error) {
	version, fresh, err := readFormat(dir)
	s := folderState{fresh: fresh, marked: version > formatWithoutMark, index: new(blockIndex)}
	if err != nil || fresh {
		return s, err
	}
	if s.index, err = indexBlocks(dir); err != nil {
		return s, err
	}
	if !s.marked {
		return s, s.index.verifyReadable(highWater{})
	}
	s.mark, s.size, err = readHighWater(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s has no file %q", ErrCorrupt, dir, highWaterFile)
	}
	if err != nil {
		return s, err
	}
	return s, s.index.verify(s.mark)
}

// prepareDir creates the folder if it doesn't exist, and checks it otherwise.
func prepareDir(dir string) (folderState, error) {
	if err := completeRecovery(dir); err != nil {
		return folderState{index: new(blockIndex)}, err
	}
	s, err := inspectFolder(dir)
	switch {
	case err != nil:
		return s, err
	case !s.fresh && s.marked:
		return s, truncateHighWater(dir, s.size)
	case !s.fresh:
		return s, nil
	}
	if err := atomicfile.MakeDir(dir); err != nil {
		return s, err
	}
	return s, writeFormat(dir, stateNoStream)
}

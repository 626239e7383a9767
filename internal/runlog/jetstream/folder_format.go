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

// formatVersion is the version of what is in the folder: the stream's layout and the
// messages' encoding. Other versions than ours are refused, not guessed at.
// Format 2 has a high-water mark; a folder of format 1 gets one.
const formatVersion = 2

const unmarked = 1

const formatFileName = "format"

// stateNoStream follows the format until the stream is made, so that a folder whose
// stream has gone is told from a new one.
const stateNoStream = "unborn"

// versionOf reads the format of a folder, which has to be one of ours; fresh
// tells that there is nothing in it yet.
func versionOf(dir string) (version int, fresh bool, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, formatFileName))
	_, statErr := os.Stat(filepath.Join(dir, "jetstream"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return 0, false, fmt.Errorf("%w: %s has a log, but no file %q", ErrCorrupt, dir, formatFileName)
	case errors.Is(err, fs.ErrNotExist):
		return formatVersion, true, nil
	case err != nil:
		return 0, false, err
	}
	number, state, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	version, err = strconv.Atoi(number)
	switch {
	case err != nil || version < 1:
		return 0, false, fmt.Errorf("%w: %s says %.20q", ErrCorrupt, filepath.Join(dir, formatFileName), raw)
	case version > formatVersion:
		return 0, false, fmt.Errorf("%w: %s has format %d, and this version reads %d", ErrNewerFormat, dir, version, formatVersion)
	}
	return version, state == stateNoStream, nil
}

// A state is what is in a folder before its engine is started.
type state struct {
	fresh, marked bool
	mark          highWater
	size          int64 // of the mark's file, without its torn or clean end
	survey        *survey
}

// inspect reads a folder, and changes nothing in it. The state is what was found
// even if the error is [ErrCorrupt], as far as it could be.
func inspect(dir string) (state, error) {
	version, fresh, err := versionOf(dir)
	s := state{fresh: fresh, marked: version > unmarked, survey: new(survey)}
	if err != nil || fresh {
		return s, err
	}
	if s.survey, err = surveyBlocks(dir); err != nil {
		return s, err
	}
	if !s.marked {
		return s, s.survey.readable(highWater{})
	}
	s.mark, s.size, err = readHighWater(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s has no file %q", ErrCorrupt, dir, highWaterFile)
	}
	if err != nil {
		return s, err
	}
	return s, s.survey.against(s.mark)
}

// prepareDir makes the folder, or checks that it is one of ours and undamaged.
func prepareDir(dir string) (state, error) {
	if err := completeRecovery(dir); err != nil {
		return state{survey: new(survey)}, err
	}
	s, err := inspect(dir)
	switch {
	case err != nil:
		return s, err
	case !s.fresh && s.marked:
		return s, trimHighWater(dir, s.size)
	case !s.fresh:
		return s, nil
	}
	if err := atomicfile.MakeFolder(dir); err != nil {
		return s, err
	}
	return s, writeFormat(dir, stateNoStream)
}

func writeFormat(dir, state string) error {
	text := strings.TrimSpace(fmt.Sprint(formatVersion, " ", state)) + "\n"
	return atomicfile.Write(filepath.Join(dir, formatFileName), []byte(text))
}

// Package archive writes what a data folder holds to one archive, and reads it
// back: the entries of all runs, their files, the keys of their secret answers,
// and the keys of sessions.
//
// An archive is a tar of these files, in this order, compressed with zstd:
//
//	beam-backup.json       the format's version, and what wrote it
//	session-keys.json
//	log/00000001.jsonl …   what was appended, an append a line, in order
//	keys/RUN               the key of a run's secret answers
//	blobs/RUN/DIGEST       what is too large for the log
//	end.json               how much there was, and a checksum of all of it
//
// It holds entries and not the files of the log's engine, so that it is
// consistent while runs go on, and any version can read it that knows this
// format.
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// formatVersion is the version of the archive.
const formatVersion = 1

// Parts are what an archive is of, or is read back to.
type Parts struct {
	Log            runlog.Log
	Blobs          *blob.Store
	KeyDir         string // folder of the keys of secret answers, a file a run
	SessionKeyFile string // file
}

// A Summary says what an archive holds.
type Summary struct {
	Version   string    `json:"version"` // of the program that wrote it
	CreatedAt time.Time `json:"made"`
	counts
}

type counts struct {
	Runs    int `json:"runs"`
	Entries int `json:"entries"`
	Keys    int `json:"keys"`
	Blobs   int `json:"blobs"`
}

// What can be wrong with an archive; [errors.Is] finds it.
var (
	ErrNotBackup   = errors.New("this is no backup of Beam's")
	ErrNewerFormat = errors.New("the backup was made by a newer version of Beam")
	ErrTruncated   = errors.New("the backup is cut off")
	ErrDamaged     = errors.New("the backup is damaged")
)

func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// manifest is the first file.
type manifest struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"`
	CreatedAt time.Time `json:"made"`
}

// trailer is the last file.
type trailer struct {
	counts
	Checksum string `json:"sha256"` // of all files before; see sums
}

// logLine is a line of the log's files.
type logLine struct {
	Run     string         `json:"run"`
	Entries []runlog.Entry `json:"entries"`
}

// The archive's files.
const (
	manifestName    = "beam-backup.json"
	sessionKeysName = "session-keys.json"
	trailerName     = "end.json"
)

// A section is a part of the archive, in which the files have the same bound.
type section struct {
	pattern  *regexp.Regexp
	maxBytes int64 // bytes of a file
}

// sections are in the order of the archive.
var sections = [...]section{
	sectionManifest:    {regexp.MustCompile(`^beam-backup\.json$`), 4 << 10},
	sectionSessionKeys: {regexp.MustCompile(`^session-keys\.json$`), 4 << 10},
	sectionLog:         {regexp.MustCompile(`^log/\d{8}\.jsonl$`), 64 << 20},
	sectionKeys:        {regexp.MustCompile(`^keys/([0-9a-f]{1,64})$`), 4 << 10},
	sectionBlobs:       {regexp.MustCompile(`^blobs/([0-9a-f]{1,64})/([0-9a-f]{64})$`), 1 << 40},
	sectionTrailer:     {regexp.MustCompile(`^end\.json$`), 4 << 10},
}

const (
	sectionManifest = iota // the first two and the last have one file
	sectionSessionKeys
	sectionLog
	sectionKeys
	sectionBlobs
	sectionTrailer
)

// checksum is a checksum of files: of each, its name, its size and its content.
type checksum struct{ hash.Hash }

func newChecksum() checksum { return checksum{sha256.New()} }

func (s checksum) startFile(name string, size int64) io.Writer {
	fmt.Fprintf(s, "%s %d\n", name, size)
	return s
}

func (s checksum) String() string { return hex.EncodeToString(s.Sum(nil)) }

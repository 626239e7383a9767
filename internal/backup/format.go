// Package backup writes the contents of a data folder to one file, and reads them
// back: the entries of all runs, their blobs, the keys of their secret answers, and
// the session keys.
//
// A backup is a tar archive of these files, in this order, compressed with zstd:
//
//	beam-backup.json       the version of the format and of the program
//	session-keys.json
//	log/00000001.jsonl …   the appends in order, one per line
//	keys/RUN               the key of a run's secret answers
//	blobs/RUN/DIGEST       data that is too large for the log
//	end.json               counts, and a checksum of all files before it
//
// A backup holds entries rather than the files of the log, so it is consistent
// while runs continue, and every version of Beam that knows the format can read
// it.
package backup

import (
	"context"
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

// formatVersion is the version of the backup format.
const formatVersion = 1

// Parts are the parts of a data folder, or of a database that stands in for it.
type Parts struct {
	Log         runlog.Log
	Blobs       *blob.Store
	Keys        Keys
	SessionKeys SessionKeys
}

// Keys are the keys of runs' secret answers.
type Keys interface {
	Runs() ([]string, error)
	// Export returns a run's key, or nil if there is none.
	Export(run string) ([]byte, error)
	Import(run string, key []byte) error
}

// SessionKeys are the keys of sessions.
type SessionKeys interface {
	Export(ctx context.Context) ([]byte, error)
	Import(ctx context.Context, exported []byte) error
}

// A Summary describes the contents of a backup.
type Summary struct {
	Version   string    `json:"version"` // of the program that wrote it
	CreatedAt time.Time `json:"made"`
	// Missing has what the backup lacks of runs that were damaged, by their ids.
	Missing map[string]string `json:"missing,omitempty"`
	counts
}

type counts struct {
	Runs    int `json:"runs"`
	Entries int `json:"entries"`
	Keys    int `json:"keys"`
	Blobs   int `json:"blobs"`
}

// Errors of a backup, to be tested with [errors.Is].
var (
	ErrNotBackup   = errors.New("this is not a Beam backup")
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
	Missing  map[string]string `json:"missing,omitempty"` // as in Summary
	Checksum string            `json:"sha256"`            // of all files before this one
}

// logLine is a line of a file of the log: one append.
type logLine struct {
	Run     string         `json:"run"`
	Entries []runlog.Entry `json:"entries"`
}

// Names of the files that occur once.
const (
	manifestName    = "beam-backup.json"
	sessionKeysName = "session-keys.json"
	trailerName     = "end.json"
)

// A section describes a group of consecutive files.
type section struct {
	pattern  *regexp.Regexp
	maxBytes int64 // of each file
}

// sections lists the sections in their order.
var sections = [...]section{
	sectionManifest:    {regexp.MustCompile(`^beam-backup\.json$`), 4 << 10},
	sectionSessionKeys: {regexp.MustCompile(`^session-keys\.json$`), 16 << 20},
	sectionLog:         {regexp.MustCompile(`^log/\d{8}\.jsonl$`), 64 << 20},
	sectionKeys:        {regexp.MustCompile(`^keys/([0-9a-f]{1,64})$`), 4 << 10},
	sectionBlobs:       {regexp.MustCompile(`^blobs/([0-9a-f]{1,64})/([0-9a-f]{64})$`), 1 << 40},
	sectionTrailer:     {regexp.MustCompile(`^end\.json$`), 4 << 10},
}

const (
	sectionManifest = iota // this section, the next and the last have one file each
	sectionSessionKeys
	sectionLog
	sectionKeys
	sectionBlobs
	sectionTrailer
)

// checksum is a SHA-256 of the names, sizes and contents of files.
type checksum struct{ hash.Hash }

func newChecksum() checksum { return checksum{sha256.New()} }

func (s checksum) startFile(name string, size int64) io.Writer {
	fmt.Fprintf(s, "%s %d\n", name, size)
	return s
}

func (s checksum) String() string { return hex.EncodeToString(s.Sum(nil)) }

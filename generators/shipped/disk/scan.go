package disk

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/humanize"
)

const (
	maxListed     = 50   // largest files, or types, in a list
	maxTypes      = 1000 // types that are counted separately
	maxTypeLength = 16   // length of a type's name, in characters
)

// A scan has what a walk has found.
type scan struct {
	started    time.Time
	total      fileSum
	folders    int // below the folder
	largest    []largeFile
	types      map[string]*fileSum
	otherTypes fileSum // files of types beyond maxTypes
	ages       [len(ageNames)]fileSum

	links, unreadable, devices, tooDeep skipCount
}

func newScan(now time.Time) *scan {
	return &scan{started: now, types: map[string]*fileSum{}}
}

// A largeFile is one of the largest files.
type largeFile struct {
	path     string
	bytes    int64
	modified time.Time
}

// A fileSum is the number and the total size of files.
type fileSum struct {
	files int
	bytes int64 // of their contents
}

func (s *fileSum) add(o fileSum) {
	s.files += o.files
	if s.bytes += o.bytes; s.bytes < 0 { // the sizes of sparse files may overflow
		s.bytes = math.MaxInt64
	}
}

// A skipCount counts what is skipped.
type skipCount struct {
	n     int
	first string // path
}

func (t *skipCount) add(path string) {
	if t.n++; t.n == 1 {
		t.first = path
	}
}

func (f *scan) addFile(at, name string, info fs.FileInfo) {
	bytes := max(info.Size(), 0)
	one := fileSum{1, bytes}
	f.total.add(one)
	f.sumOfType(name).add(one)
	f.ages[f.ageIndex(info.ModTime())].add(one)
	if len(f.largest) < maxListed || bytes >= f.largest[maxListed-1].bytes {
		f.insertLargest(largeFile{joinPath(at, name), bytes, info.ModTime()})
	}
}

// insertLargest inserts a file into the list of the largest. Files of the same size
// are sorted by path, so that the list doesn't depend on the order of the walk.
func (f *scan) insertLargest(new largeFile) {
	i, _ := slices.BinarySearchFunc(f.largest, new, func(a, b largeFile) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.path, b.path))
	})
	f.largest = slices.Insert(f.largest, i, new)
	f.largest = f.largest[:min(len(f.largest), maxListed)]
}

// sumOfType returns the sum for files of the same type as name.
func (f *scan) sumOfType(name string) *fileSum {
	ext := extension(name)
	s, ok := f.types[ext]
	switch {
	case ok:
		return s
	case len(f.types) >= maxTypes:
		return &f.otherTypes
	}
	s = new(fileSum)
	f.types[strings.Clone(ext)] = s
	return s
}

// extension returns the extension of a name in lower case, such as ".jpg", or "" if
// it has none or the part after the last dot doesn't look like one.
func extension(name string) string {
	ext := path.Ext(name)
	if len(ext) < 2 || len(ext) == len(name) || utf8.RuneCountInString(ext) > maxTypeLength || strings.ContainsAny(ext, " \t") {
		return ""
	}
	return strings.ToLower(ext)
}

// ageNames lists the age groups, youngest first.
var ageNames = [...]string{
	"In the future", "Up to a day", "1 to 7 days", "7 to 30 days", "30 days to a year", "1 to 5 years", "More than 5 years",
}

// ageIndex returns the index in ageNames of a file's age. A file counts as modified in
// the future only if that is more than a day ahead, because clocks differ.
func (f *scan) ageIndex(modified time.Time) int {
	const day = 24 * time.Hour
	old := f.started.Sub(modified)
	for i, end := range []time.Duration{-day, day, 7 * day, 30 * day, 365 * day, 5 * 365 * day} {
		if old <= end {
			return i
		}
	}
	return len(ageNames) - 1
}

// describeProgress returns the number and the size of the files found so far.
func (f *scan) describeProgress() string {
	return fmt.Sprintf("%s, %s", humanize.Count(f.total.files, "file"), humanize.Bytes(f.total.bytes))
}

// warnings says what was skipped.
func (f *scan) warnings() []string {
	var all []string
	add := func(t skipCount, one, many string) {
		if t.n == 1 {
			all = append(all, fmt.Sprintf("%s: %s.", one, displayPath(t.first)))
		} else if t.n > 1 {
			all = append(all, fmt.Sprintf("%s %s, such as %s.", humanize.Thousands(t.n), many, displayPath(t.first)))
		}
	}
	add(f.links, "1 symbolic link was not followed", "symbolic links were not followed")
	add(f.unreadable, "1 file or folder couldn't be read and was skipped", "files or folders couldn't be read and were skipped")
	add(f.devices, "1 pipe, socket or device was skipped", "pipes, sockets or devices were skipped")
	add(f.tooDeep, "1 folder is nested too deeply and was skipped", "folders are nested too deeply and were skipped")
	return all
}

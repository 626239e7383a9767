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
	maxListed     = 50   // of the largest files and of the types
	maxTypes      = 1000 // that are told apart; the rest goes together
	maxTypeLength = 16   // of a type's name, in characters
)

// scan is what a walk has come upon.
type scan struct {
	folder     string
	started    time.Time
	total      fileSum
	folders    int // below the folder
	largest    []largeFile
	types      map[string]*fileSum
	otherTypes fileSum // files of types beyond maxTypes
	ages       [len(ageNames)]fileSum

	links, unreadable, devices, tooDeep skipCount
}

func newScan(folder string, now time.Time) *scan {
	return &scan{folder: folder, started: now, types: map[string]*fileSum{}}
}

// A largeFile is one of the largest.
type largeFile struct {
	path     string
	bytes    int64
	modified time.Time
}

// A fileSum is of files.
type fileSum struct {
	files int
	bytes int64 // of their contents
}

func (s *fileSum) add(o fileSum) {
	s.files += o.files
	if s.bytes += o.bytes; s.bytes < 0 { // sparse files may claim more than a number holds
		s.bytes = math.MaxInt64
	}
}

// A skipCount counts what is left out, and remembers the first of it.
type skipCount struct {
	n     int
	first string
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

// insertLargest puts a file in its place among the largest. Those of one size are in the
// order of their paths, so that the list doesn't depend on that of the walk.
func (f *scan) insertLargest(new largeFile) {
	i, _ := slices.BinarySearchFunc(f.largest, new, func(a, b largeFile) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.path, b.path))
	})
	f.largest = slices.Insert(f.largest, i, new)
	f.largest = f.largest[:min(len(f.largest), maxListed)]
}

// sumOfType is the sum of the files of a name's type.
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

// extension is what a name says of the file's type: ".jpg"; empty if it says
// nothing.
func extension(name string) string {
	ext := path.Ext(name)
	if len(ext) < 2 || len(ext) == len(name) || utf8.RuneCountInString(ext) > maxTypeLength || strings.ContainsAny(ext, " \t") {
		return ""
	}
	return strings.ToLower(ext)
}

// ageNames are the ages that are told apart, youngest first.
var ageNames = [...]string{
	"In the future", "Up to a day", "1 to 7 days", "7 to 30 days", "30 days to a year", "1 to 5 years", "More than 5 years",
}

// ageIndex is the place of a file's age among ageNames. Clocks of other machines may
// be ahead of ours by a day.
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

// displayName is what the folder is called in a sentence.
func (f *scan) displayName() string {
	if f.folder == "." {
		return "the whole folder"
	}
	return displayPath(f.folder)
}

// describeProgress says how much has been seen while it is looked for.
func (f *scan) describeProgress() string {
	return fmt.Sprintf("%s, %s", humanize.Count(f.total.files, "file"), humanize.Bytes(f.total.bytes))
}

// warnings say what the sums leave out.
func (f *scan) warnings() []string {
	var all []string
	add := func(t skipCount, one, many string) {
		if t.n == 1 {
			all = append(all, fmt.Sprintf("%s: %s.", one, displayPath(t.first)))
		} else if t.n > 1 {
			all = append(all, fmt.Sprintf("%s %s, such as %s.", humanize.Thousands(t.n), many, displayPath(t.first)))
		}
	}
	add(f.links, "1 symbolic link is not followed", "symbolic links are not followed")
	add(f.unreadable, "1 file or folder can't be read and is left out", "files or folders can't be read and are left out")
	add(f.devices, "1 pipe, socket or device is left out", "pipes, sockets or devices are left out")
	add(f.tooDeep, "1 folder is nested too deeply and is skipped", "folders are nested too deeply and are skipped")
	return all
}

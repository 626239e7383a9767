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

	"github.com/photon-beam/beam/internal/words"
)

const (
	listed   = 50   // of the largest files and of the types
	maxTypes = 1000 // that are told apart; the rest goes together
	maxType  = 16   // of a type's name, in characters
)

// found is what a walk has come upon.
type found struct {
	folder  string
	now     time.Time
	all     sum
	folders int // below the folder
	largest []file
	types   map[string]*sum
	other   sum // files of types beyond maxTypes
	ages    [len(ageNames)]sum

	links, unreadable, devices, deep tally
}

func newFound(folder string, now time.Time) *found {
	return &found{folder: folder, now: now, types: map[string]*sum{}}
}

// A file is one of the largest.
type file struct {
	path     string
	bytes    int64
	modified time.Time
}

// A sum is of files.
type sum struct {
	files int
	bytes int64 // of their contents
}

func (s *sum) add(o sum) {
	s.files += o.files
	if s.bytes += o.bytes; s.bytes < 0 { // sparse files may claim more than a number holds
		s.bytes = math.MaxInt64
	}
}

// A tally counts what is left out, and remembers the first of it.
type tally struct {
	n     int
	first string
}

func (t *tally) add(path string) {
	if t.n++; t.n == 1 {
		t.first = path
	}
}

func (f *found) file(at, name string, info fs.FileInfo) {
	bytes := max(info.Size(), 0)
	one := sum{1, bytes}
	f.all.add(one)
	f.typeOf(name).add(one)
	f.ages[f.age(info.ModTime())].add(one)
	if len(f.largest) < listed || bytes >= f.largest[listed-1].bytes {
		f.keep(file{join(at, name), bytes, info.ModTime()})
	}
}

// keep puts a file in its place among the largest. Those of one size are in the
// order of their paths, so that the list doesn't depend on that of the walk.
func (f *found) keep(new file) {
	i, _ := slices.BinarySearchFunc(f.largest, new, func(a, b file) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.path, b.path))
	})
	f.largest = slices.Insert(f.largest, i, new)
	f.largest = f.largest[:min(len(f.largest), listed)]
}

// typeOf is the sum of the files of a name's type.
func (f *found) typeOf(name string) *sum {
	ext := extension(name)
	s, ok := f.types[ext]
	switch {
	case ok:
		return s
	case len(f.types) >= maxTypes:
		return &f.other
	}
	s = new(sum)
	f.types[strings.Clone(ext)] = s
	return s
}

// extension is what a name says of the file's type: ".jpg"; empty if it says
// nothing.
func extension(name string) string {
	ext := path.Ext(name)
	if len(ext) < 2 || len(ext) == len(name) || utf8.RuneCountInString(ext) > maxType || strings.ContainsAny(ext, " \t") {
		return ""
	}
	return strings.ToLower(ext)
}

// ageNames are the ages that are told apart, youngest first.
var ageNames = [...]string{
	"In the future", "Up to a day", "1 to 7 days", "7 to 30 days", "30 days to a year", "1 to 5 years", "More than 5 years",
}

// age is the place of a file's age among ageNames. Clocks of other machines may
// be ahead of ours by a day.
func (f *found) age(modified time.Time) int {
	const day = 24 * time.Hour
	old := f.now.Sub(modified)
	for i, end := range []time.Duration{-day, day, 7 * day, 30 * day, 365 * day, 5 * 365 * day} {
		if old <= end {
			return i
		}
	}
	return len(ageNames) - 1
}

// name is what the folder is called in a sentence.
func (f *found) name() string {
	if f.folder == "." {
		return "the whole folder"
	}
	return shown(f.folder)
}

// soFar says how much has been seen while it is looked for.
func (f *found) soFar() string {
	return fmt.Sprintf("%s, %s", words.Count(f.all.files, "file"), words.Size(f.all.bytes))
}

// warnings say what the sums leave out.
func (f *found) warnings() []string {
	var all []string
	add := func(t tally, one, many string) {
		if t.n == 1 {
			all = append(all, fmt.Sprintf("%s: %s.", one, shown(t.first)))
		} else if t.n > 1 {
			all = append(all, fmt.Sprintf("%s %s, such as %s.", words.Thousands(t.n), many, shown(t.first)))
		}
	}
	add(f.links, "1 symbolic link is not followed", "symbolic links are not followed")
	add(f.unreadable, "1 file or folder can't be read and is left out", "files or folders can't be read and are left out")
	add(f.devices, "1 pipe, socket or device is left out", "pipes, sockets or devices are left out")
	add(f.deep, "1 folder is too deep down to be looked into", "folders are too deep down to be looked into")
	return all
}

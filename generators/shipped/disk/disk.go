// Package disk has the photon disk_usage, which walks a folder that the operator allows,
// reports its size, and lists what takes up the space.
//
// It can't access anything outside of that folder and opens no file. The memory it
// uses is bounded, regardless of the number of files.
package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
)

// Photon walks a folder below [generators.Root].
var Photon = generators.New("disk_usage", analyzeFolder, &generators.Options{
	Title:       "What takes up space in a folder",
	Description: "Finds out what takes up space in a folder: how many files it has, their size in all, and, as the user chooses, the largest files or the sizes by type or by age. Reads names, sizes and dates only, and only in the folder that the operator allows with --root.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Asks:        true,
})

// Input is the folder to analyze.
type Input struct {
	Folder string `json:"folder,omitempty" title:"Folder" description:"A path below the folder that Beam may read, such as photos/2026, or a dot for all of that folder" maxLength:"4096" default:"."`
}

// A Report is the photon's result.
type Report struct {
	Folder  string `json:"folder"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"` // below the folder
	Bytes   int64  `json:"bytes"`   // of the files' contents
	// List is the list that was chosen; empty if the folder has no files.
	List     string   `json:"list,omitempty" enum:"largest,types,ages"`
	Items    []Item   `json:"items"`
	Warnings []string `json:"warnings,omitempty"`
}

// An Item is one line of the list: a file, or the files of a type or age.
type Item struct {
	// Name is quoted if it has characters that are invisible or that change how the text
	// around them is displayed.
	Name  string `json:"name"`
	Files int    `json:"files"`
	Size  string `json:"size"` // for people
	Bytes int64  `json:"bytes"`
	// Modified is when a file was last modified, in RFC 3339 format.
	Modified string `json:"modified,omitempty"`
}

func analyzeFolder(ctx context.Context, in Input, yield generators.Yield) (Report, error) {
	found, err := generators.Step(yield, "scan", func(context.Context) (found, error) { return scanFolder(ctx, in.Folder, yield) })
	if err != nil {
		return Report{}, err
	}
	r := found.Report
	yield(generators.Statusf("%s: %s", displayFolder(r.Folder), r.describe()))
	for _, w := range r.Warnings {
		yield(generators.StatusAt(generators.Warning, w))
	}
	if r.Files == 0 {
		return r, nil
	}
	if r.List, err = ask.Select(yield, "list", r.describe()+". What should be listed?", listChoices(), ask.Title("List")); err != nil {
		return Report{}, err
	}
	r.Items = found.Lists[r.List]
	r.showList(yield)
	return r, nil
}

// A found is what the folder had when it was scanned: a report without a list, and the lists
// to choose from. A step records it.
type found struct {
	Report
	Lists map[string][]Item
}

// scanFolder walks the folder.
func scanFolder(ctx context.Context, folder string, yield generators.Yield) (found, error) {
	dir, name, err := openFolder(ctx, folder)
	if err != nil {
		return found{}, err
	}
	defer dir.Close()
	w := &walker{ctx: ctx, yield: yield, reportInterval: time.Second / 10, scan: newScan(time.Now())}
	yield(generators.Statusf("Scanning %s", displayFolder(name)))
	if err := w.walk(dir); err != nil {
		return found{}, err
	}
	s := w.scan
	return found{
		Report: Report{Folder: name, Files: s.total.files, Folders: s.folders, Bytes: s.total.bytes, Items: []Item{}, Warnings: s.warnings()},
		Lists:  map[string][]Item{listLargest: s.largestFiles(), listTypes: s.byType(), listAges: s.byAge()},
	}, nil
}

func listChoices() []ask.Choice {
	return []ask.Choice{{Value: listLargest, Title: "Largest files"}, {Value: listTypes, Title: "By type"}, {Value: listAges, Title: "By age"}}
}

// The lists.
const (
	listLargest = "largest"
	listTypes   = "types"
	listAges    = "ages"
)

// describe returns the number of files and folders and their size.
func (r *Report) describe() string {
	return fmt.Sprintf("%s in %s, %s", humanize.Count(r.Files, "file"), humanize.Count(r.Folders+1, "folder"), humanize.Bytes(r.Bytes))
}

// Package disk ships the photon disk: it walks a folder that the operator
// allows, says how much is in it, asks what to list, and lists it.
//
// Nothing outside of that folder can be reached, no file is opened, and memory
// is bounded however much there is.
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
var Photon = generators.New("disk", analyzeFolder, &generators.Options{
	Title:       "What fills a folder",
	Description: "Walks a folder that the operator allows (--root) and, as you choose, lists its largest files, or how much there is of each type or age. It reads names, sizes and dates, and opens no file.",
	ReadOnly:    true,
	Idempotent:  true,
})

// Input is the folder to look through.
type Input struct {
	Folder string `json:"folder,omitempty" title:"Folder" description:"A path below the folder that Beam may read, such as photos/2026; a dot is all of that folder" maxLength:"4096" default:"."`
}

// A Report is what is in the folder.
type Report struct {
	Folder  string `json:"folder"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"` // below the folder
	Bytes   int64  `json:"bytes"`   // of the files' contents
	// List is what was chosen; there is nothing to choose from without files.
	List     string   `json:"list,omitempty" enum:"largest,types,ages"`
	Items    []Item   `json:"items"`
	Warnings []string `json:"warnings,omitempty"`
}

// An Item is one line of the list: a file, or the files of a type or age.
type Item struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	// Modified is when a file was, as in RFC 3339.
	Modified string `json:"modified,omitempty"`
}

func analyzeFolder(ctx context.Context, in Input, yield generators.Yield) (Report, error) {
	found, err := scanFolder(ctx, in.Folder, yield)
	if err != nil {
		return Report{}, err
	}
	r := Report{Folder: found.folder, Files: found.total.files, Folders: found.folders, Bytes: found.total.bytes,
		Items: []Item{}, Warnings: found.warnings()}
	yield(generators.Statusf("%s: %s", found.displayName(), found.describe()))
	for _, w := range r.Warnings {
		yield(generators.StatusAt(generators.Warning, w))
	}
	if r.Files == 0 {
		return r, nil
	}
	if r.List, err = ask.Select(yield, "list", found.describe()+". What should be listed?", listChoices(), ask.Title("List")); err != nil {
		return Report{}, err
	}
	r.Items = found.showList(yield, r.List)
	return r, nil
}

// scanFolder walks the folder. It is closed again before the question, which may
// stay open for long.
func scanFolder(ctx context.Context, folder string, yield generators.Yield) (*scan, error) {
	dir, name, err := openFolder(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	w := &walker{ctx: ctx, yield: yield, reportInterval: time.Second / 10, scan: newScan(name, time.Now())}
	yield(generators.Statusf("scanning %s", w.scan.displayName()))
	if err := w.walk(dir); err != nil {
		return nil, err
	}
	return w.scan, nil
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

// describe says how much there is.
func (f *scan) describe() string {
	return fmt.Sprintf("%s in %s, %s", humanize.Count(f.total.files, "file"), humanize.Count(f.folders+1, "folder"), humanize.Bytes(f.total.bytes))
}

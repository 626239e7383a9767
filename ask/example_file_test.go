package ask_test

import (
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// The photon reads the files as often as it likes.
func ExampleFiles() {
	run(func(yield generators.Yield) (total int64, err error) {
		files, err := ask.Files(yield, "pictures", "Which pictures?", ask.Accepting("image/*"), ask.Count(1, 3), ask.MaxSize(1<<20))
		for _, f := range files {
			total += f.Size
		}
		return total, err
	}, beamtest.Script{"pictures": beamtest.Accept([]beamtest.File{
		{Name: "a.png", MediaType: "image/png", Content: []byte("\x89PNG")},
		{Name: "b.png", MediaType: "image/png", Content: []byte("\x89PNG\r\n")},
	})})
	// Output:
	// 10
}

// A file that is one of several questions.
func ExampleForFiles() {
	run(func(yield generators.Yield) (string, error) {
		var files []ask.Handle
		var note string
		err := ask.All(yield, ask.ForFiles("file", "Which file?").Into(&files), ask.ForText("note", "What is it?").Into(&note))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s, %d byte", note, files[0].Name, files[0].Size), nil
	}, beamtest.Script{"file": beamtest.Accept(beamtest.File{Name: "a.txt", Content: []byte("a")}), "note": beamtest.Accept("A letter")})
	// Output:
	// "A letter: a.txt, 1 byte"
}

// Roots asks for the folders that the photon may work in.
func ExampleRoots() {
	run(func(yield generators.Yield) (string, error) {
		roots, err := ask.Roots(yield, "folders")
		if err != nil {
			return "", err
		}
		return roots[0].Name + " at " + roots[0].URI, nil
	}, beamtest.Script{"folders": beamtest.Accept([]ask.Root{{URI: "file:///home/ada/notes", Name: "Notes"}})})
	// Output:
	// "Notes at file:///home/ada/notes"
}

// URL asks for consent to open an address, or, with UntilDone, until the person is done.
func ExampleURL() {
	run(func(yield generators.Yield) (bool, error) {
		if err := ask.URL(yield, "pay", "Please pay at the bank", "https://bank.example/pay", ask.UntilDone()); err != nil {
			return false, err
		}
		var agreed bool // or as one of several questions
		err := ask.All(yield, ask.ForURL("terms", "Please read the terms", "https://bank.example/terms").Into(&agreed))
		return agreed, err
	}, beamtest.Script{"pay": beamtest.Accept(nil), "terms": beamtest.Accept(nil)})
	// Output:
	// true
}

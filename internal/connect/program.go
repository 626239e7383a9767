package connect

import (
	"os"
	"path/filepath"
)

// ThisProgram returns an entry that starts this program. Its path is that of the program
// itself, because a client's PATH may differ from a shell's, and a link may go away.
func ThisProgram(name string) (e Entry, err error) {
	e = Entry{Name: name, Args: []string{"stdio", "--open"}}
	if e.Command, err = os.Executable(); err != nil {
		return e, err
	}
	e.Command, err = filepath.EvalSymlinks(e.Command)
	return e, err
}

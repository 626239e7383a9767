package joint

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// The socket is in the folder itself, unless its path is too long for one: then
// it is in a folder of its own among the temporary ones, and the folder has a
// file that says where.
const (
	socketName  = "socket"
	pointerName = "socket-path"
	tempPrefix  = "beam-socket-"
)

// maxPath is the longest path that every system takes for a socket; some have
// room for 104 bytes and a zero.
const maxPath = 100

// find is where the folder's owner would listen.
func find(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, pointerName))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(dir, socketName), nil
	}
	if err != nil {
		return "", err
	}
	path := strings.TrimSpace(string(raw))
	if !ours(path) {
		return "", fmt.Errorf("%s names no socket of Beam's", filepath.Join(dir, pointerName))
	}
	return path, nil
}

// ours tells whether a path is one that place makes up.
func ours(path string) bool {
	return filepath.IsAbs(path) && filepath.Base(path) == socketName &&
		strings.HasPrefix(filepath.Base(filepath.Dir(path)), tempPrefix)
}

// clear removes what an owner left that was killed. The caller holds the
// folder's lock: nobody listens there.
func clear(dir string) error {
	if path, err := find(dir); err == nil && ours(path) {
		_ = os.Remove(path) // its folder is another user's if it isn't ours, and says no
		_ = os.Remove(filepath.Dir(path))
	}
	return errors.Join(remove(filepath.Join(dir, socketName)), remove(filepath.Join(dir, pointerName)))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// place is where to listen for a folder.
func place(dir string) (string, error) {
	if path := filepath.Join(dir, socketName); len(path) <= maxPath {
		return path, nil
	}
	temp := os.TempDir()
	if len(temp)+len(tempPrefix)+len("/0123456789/")+len(socketName) > maxPath {
		temp = "/tmp"
	}
	own, err := os.MkdirTemp(temp, tempPrefix)
	if err != nil {
		return "", err
	}
	path := filepath.Join(own, socketName)
	if err := os.WriteFile(filepath.Join(dir, pointerName), []byte(path+"\n"), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(own))
	}
	return path, nil
}

// listen takes the socket's place, which only the holder of the folder's lock
// may do. The folder lets nobody else in before the mode is set.
func listen(dir string) (*net.UnixListener, error) {
	if err := clear(dir); err != nil {
		return nil, err
	}
	path, err := place(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, clear(dir))
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close(), clear(dir))
	}
	return l, nil
}

package controlsocket

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
	socketName      = "socket"
	pointerFileName = "socket-path"
	tempPrefix      = "beam-socket-"
)

// maxSocketPath is the longest path that every system takes for a socket; some have
// room for 104 bytes and a zero.
const maxSocketPath = 100

// findSocketPath is where the folder's owner would listen.
func findSocketPath(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, pointerFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(dir, socketName), nil
	}
	if err != nil {
		return "", err
	}
	path := strings.TrimSpace(string(raw))
	if !isOwnSocketPath(path) {
		return "", fmt.Errorf("%s names no socket of Beam's", filepath.Join(dir, pointerFileName))
	}
	return path, nil
}

// isOwnSocketPath tells whether a path is one that place makes up.
func isOwnSocketPath(path string) bool {
	return filepath.IsAbs(path) && filepath.Base(path) == socketName &&
		strings.HasPrefix(filepath.Base(filepath.Dir(path)), tempPrefix)
}

// removeStaleSocket removes what an owner left that was killed. The caller holds the
// folder's lock: nobody listens there.
func removeStaleSocket(dir string) error {
	if path, err := findSocketPath(dir); err == nil && isOwnSocketPath(path) {
		_ = os.Remove(path) // its folder is another user's if it isn't ours, and says no
		_ = os.Remove(filepath.Dir(path))
	}
	return errors.Join(removeIfExists(filepath.Join(dir, socketName)), removeIfExists(filepath.Join(dir, pointerFileName)))
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// chooseSocketPath is where to listen for a folder.
func chooseSocketPath(dir string) (string, error) {
	if path := filepath.Join(dir, socketName); len(path) <= maxSocketPath {
		return path, nil
	}
	temp := os.TempDir()
	if len(temp)+len(tempPrefix)+len("/0123456789/")+len(socketName) > maxSocketPath {
		temp = "/tmp"
	}
	own, err := os.MkdirTemp(temp, tempPrefix)
	if err != nil {
		return "", err
	}
	path := filepath.Join(own, socketName)
	if err := os.WriteFile(filepath.Join(dir, pointerFileName), []byte(path+"\n"), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(own))
	}
	return path, nil
}

// listenUnix takes the socket's place, which only the holder of the folder's lock
// may do. The folder lets nobody else in before the mode is set.
func listenUnix(dir string) (*net.UnixListener, error) {
	if err := removeStaleSocket(dir); err != nil {
		return nil, err
	}
	path, err := chooseSocketPath(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, removeStaleSocket(dir))
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close(), removeStaleSocket(dir))
	}
	return l, nil
}

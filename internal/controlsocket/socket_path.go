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

// The socket is in the data folder unless its path would be too long. Then it is
// in a temporary folder of its own, and a file in the data folder holds its path.
const (
	socketName      = "socket"
	pointerFileName = "socket-path"
	tempPrefix      = "beam-socket-"
)

// maxSocketPath is the longest path of a socket that all systems accept. The limit
// of some is 104 bytes, including a final zero.
const maxSocketPath = 100

// findSocketPath returns the path of the socket on which the folder's owner listens,
// if there is one.
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
		return "", fmt.Errorf("%s doesn't contain the path of a Beam socket", filepath.Join(dir, pointerFileName))
	}
	return path, nil
}

// isOwnSocketPath reports whether chooseSocketPath may have returned a path in a
// temporary folder.
func isOwnSocketPath(path string) bool {
	return filepath.IsAbs(path) && filepath.Base(path) == socketName &&
		strings.HasPrefix(filepath.Base(filepath.Dir(path)), tempPrefix)
}

// removeStaleSocket removes the socket of an owner that was killed. The caller must
// hold the folder's lock, so that no process listens there.
func removeStaleSocket(dir string) error {
	if path, err := findSocketPath(dir); err == nil && isOwnSocketPath(path) {
		_ = os.Remove(path) // fails if it is another user's
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

// chooseSocketPath returns the path on which to listen for a folder.
func chooseSocketPath(dir string) (string, error) {
	if path := filepath.Join(dir, socketName); len(path) <= maxSocketPath {
		return path, nil
	}
	temp := os.TempDir()
	if len(temp)+len(tempPrefix)+len("/0123456789/")+len(socketName) > maxSocketPath {
		temp = "/tmp"
	}
	socketDir, err := os.MkdirTemp(temp, tempPrefix)
	if err != nil {
		return "", err
	}
	path := filepath.Join(socketDir, socketName)
	if err := os.WriteFile(filepath.Join(dir, pointerFileName), []byte(path+"\n"), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(socketDir))
	}
	return path, nil
}

// listenUnix listens on the socket of a folder, whose lock the caller must hold.
// Until the socket's mode is set, the folder's mode protects it.
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

package blob

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/diskspace"
)

// messagesFile holds a run's recorded messages, in the folder of its blobs. It is no blob:
// no log refers to it, and backups leave it out.
const messagesFile = "messages"

// WriteMessages replaces the recorded messages of a run. They aren't lost if this process
// ends, but may be if the machine does. The error is [runlog.ErrDiskFull] or the file
// system's; what was there is then unchanged.
func (s *Store) WriteMessages(run string, lines []byte) error {
	if err := checkName(run); err != nil {
		return err
	}
	if s.shared != nil {
		return s.shared.WriteMessages(run, lines)
	}
	if err := s.disk.CheckWrite(len(lines)); err != nil {
		return err
	}
	if err := s.root.MkdirAll(run, 0o700); err != nil {
		return diskspace.WrapDiskFull(err)
	}
	temp := filepath.Join(run, tempPrefix+rand.Text())
	err := s.root.WriteFile(temp, lines, 0o600)
	if err == nil {
		err = s.root.Rename(temp, filepath.Join(run, messagesFile))
	}
	if err != nil {
		_ = s.root.Remove(temp) // it may not exist
	}
	return diskspace.WrapDiskFull(err)
}

// AppendMessages adds to the recorded messages of a run, like [Store.WriteMessages], which
// has written them. After an error, a part of the lines may be there.
func (s *Store) AppendMessages(run string, lines []byte) error {
	if err := checkName(run); err != nil {
		return err
	}
	if s.shared != nil {
		return s.shared.AppendMessages(run, lines)
	}
	if err := s.disk.CheckWrite(len(lines)); err != nil {
		return err
	}
	f, err := s.root.OpenFile(filepath.Join(run, messagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return diskspace.WrapDiskFull(errors.Join(err, f.Close()))
}

// maxMessagesFile is the largest file of messages that is read, in bytes. Beam writes none
// that is as large.
const maxMessagesFile = 4 << 20

// ReadMessages returns the recorded messages of a run; nil if there are none.
func (s *Store) ReadMessages(run string) ([]byte, error) {
	if err := checkName(run); err != nil {
		return nil, err
	}
	if s.shared != nil {
		return s.shared.ReadMessages(run, maxMessagesFile)
	}
	f, err := s.root.Open(filepath.Join(run, messagesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxMessagesFile))
	return raw, errors.Join(err, f.Close())
}

package durability

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A disk models the file system below a folder as POSIX promises it and no
// better: a file's content reaches the disk when the file is synced, and a
// folder's names when the folder is. Everything else is lost in a power
// failure.
type disk struct {
	t    *testing.T
	dir  string // the folder
	root *inode
	open map[int]*openFile // by file descriptor
	// version counts what the disk was given.
	version int
	// pending are syncs that have begun, with what they promise.
	pending map[*call]*snapshot
}

// An inode is a file or a folder, both as programs see it and as the disk has
// it.
type inode struct {
	folder        bool
	names, synced map[string]*inode
	data, kept    []byte
}

// An openFile has a position.
type openFile struct {
	*inode
	at           int
	append, sync bool
}

// A snapshot is what a sync makes durable: the content when the sync began.
type snapshot struct {
	inode *inode
	names map[string]*inode
	data  []byte
}

func newDisk(t *testing.T, dir string) *disk {
	return &disk{t: t, dir: dir, root: newFolderInode(), open: map[int]*openFile{}, pending: map[*call]*snapshot{}}
}

func newFolderInode() *inode {
	return &inode{folder: true, names: map[string]*inode{}, synced: map[string]*inode{}}
}

// restart closes the process's open files.
func (d *disk) restart() { clear(d.open) }

// resolvePath returns the folder that a path is in and its name there. The
// folder is nil if the path is outside the disk.
func (d *disk) resolvePath(fd int, path string) (*inode, string) {
	in := d.root
	if filepath.IsAbs(path) {
		var ok bool
		if path, ok = strings.CutPrefix(filepath.Clean(path), d.dir); !ok {
			return nil, ""
		}
	} else if o := d.open[fd]; o != nil {
		in = o.inode
	} else {
		return nil, ""
	}
	parts := strings.Split(strings.Trim(filepath.Clean("/"+path), "/"), "/")
	for _, p := range parts[:len(parts)-1] {
		if in = in.names[p]; in == nil {
			return nil, ""
		}
	}
	return in, parts[len(parts)-1]
}

// beginCall records what holds from the beginning of a call.
func (d *disk) beginCall(c *call) {
	switch c.name {
	case "close":
		delete(d.open, c.intArg(0)) // it may be another's before the call has returned
	case "fsync", "fdatasync":
		if o := d.open[c.intArg(0)]; o != nil {
			d.pending[c] = &snapshot{o.inode, maps.Clone(o.names), slices.Clone(o.data)}
		}
	}
}

// isSync reports whether a call that has returned makes something durable.
func (d *disk) isSync(c *call) bool {
	o := d.open[c.intArg(0)]
	return c.ret >= 0 && (d.pending[c] != nil || o != nil && o.sync && strings.Contains(c.name, "write"))
}

// endCall applies what a call did.
func (d *disk) endCall(c *call) {
	if c.ret < 0 {
		delete(d.pending, c)
		return
	}
	o := d.open[c.intArg(0)]
	switch c.name {
	case "openat":
		d.openPath(c)
	case "fcntl":
		if o != nil && (c.hasFlag(1, "F_DUPFD") || c.hasFlag(1, "F_DUPFD_CLOEXEC")) {
			d.open[c.ret] = o
		}
	case "lseek":
		if o != nil {
			o.at = c.ret
		}
	case "write":
		if o != nil {
			if o.append {
				o.at = len(o.data)
			}
			o.write(c.args[1][:c.ret], o.at)
			o.at += c.ret
			d.flush(o)
		}
	case "pwrite64":
		if o != nil {
			o.write(c.args[1][:c.ret], c.intArg(3))
			d.flush(o)
		}
	case "ftruncate":
		if o != nil {
			o.truncate(c.intArg(1))
		}
	case "fallocate":
		if o != nil {
			o.truncate(max(len(o.data), c.intArg(2)+c.intArg(3)))
		}
	case "fsync", "fdatasync":
		s := d.pending[c]
		delete(d.pending, c)
		if s != nil && !(maps.Equal(s.inode.synced, s.names) && bytes.Equal(s.inode.kept, s.data)) {
			s.inode.synced, s.inode.kept = s.names, s.data
			d.version++
		}
	case "mkdirat":
		if in, name := d.resolvePath(c.intArg(0), c.args[1]); in != nil {
			in.names[name] = newFolderInode()
		}
	case "unlinkat":
		if in, name := d.resolvePath(c.intArg(0), c.args[1]); in != nil {
			delete(in.names, name)
		}
	case "renameat", "renameat2":
		d.renamePath(c)
	case "close":
	default:
		inside := func(s string) bool { return strings.HasPrefix(s, d.dir) }
		if o != nil || slices.ContainsFunc(c.args, inside) {
			d.t.Fatalf("the disk knows no %s%.200q", c.name, c.args)
		}
	}
}

func (d *disk) openPath(c *call) {
	in, name := d.resolvePath(c.intArg(0), c.args[1])
	if in == nil {
		return
	}
	f := in
	if name != "" && name != "." {
		f = in.names[name]
	}
	if f == nil && !c.hasFlag(2, "O_CREAT") {
		return // something that the model doesn't have: a socket
	}
	if f == nil {
		f = &inode{}
		in.names[name] = f
	}
	if c.hasFlag(2, "O_TRUNC") {
		f.truncate(0)
	}
	d.open[c.ret] = &openFile{inode: f, append: c.hasFlag(2, "O_APPEND"), sync: c.hasFlag(2, "O_SYNC") || c.hasFlag(2, "O_DSYNC")}
}

func (d *disk) renamePath(c *call) {
	from, old := d.resolvePath(c.intArg(0), c.args[1])
	to, name := d.resolvePath(c.intArg(2), c.args[3])
	if from == nil || to == nil {
		d.t.Fatalf("a file comes from elsewhere or goes there: %q", c.args)
	}
	to.names[name] = from.names[old]
	delete(from.names, old)
}

func (f *inode) write(s string, at int) {
	if n := at + len(s); n > len(f.data) {
		f.data = append(f.data, make([]byte, n-len(f.data))...)
	}
	copy(f.data[at:], s)
}

func (f *inode) truncate(n int) {
	if n <= len(f.data) {
		f.data = f.data[:n:n]
		return
	}
	f.write("", n)
}

// flush makes a write durable at once if the file was opened with O_SYNC or
// O_DSYNC.
func (d *disk) flush(o *openFile) {
	if o.sync {
		o.kept = slices.Clone(o.data)
		d.version++
	}
}

// A loss selects which unsynced changes survive.
type loss int

const (
	nothing loss = iota // neither names nor contents
	names               // files that were made, renamed and removed, with what was synced of their contents
	torn                // the same, and of each sector that was not synced either what it was or what it became
)

// sectorSize is what a disk writes whole or not at all.
const sectorSize = 512

// contents returns what a file has after a loss. random says which sectors reached the disk.
func (f *inode) contents(l loss, random *rand.Rand) []byte {
	if l != torn {
		return f.kept
	}
	content := slices.Clone(f.kept)
	if random.IntN(2) == 0 { // its size is unsynced, too
		content = append(content, make([]byte, max(0, len(f.data)-len(content)))...)
	}
	for at := 0; at < min(len(content), len(f.data)); at += sectorSize {
		if random.IntN(2) == 0 {
			copy(content[at:min(at+sectorSize, len(content))], f.data[at:])
		}
	}
	return content
}

// restore creates a folder with what the disk has after a power failure.
func (f *inode) restore(t *testing.T, dir string, l loss, random *rand.Rand) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	all := f.synced
	if l != nothing {
		all = f.names
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, path := all[name], filepath.Join(dir, name)
		if f.folder {
			f.restore(t, path, l, random)
		} else if err := os.WriteFile(path, f.contents(l, random), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

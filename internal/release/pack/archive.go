package main

import (
	"archive/tar"
	"io"
	"time"
)

// A file is one of an archive. Its name ends with a slash if it is a folder.
type file struct {
	name    string
	mode    int64
	owner   int // user and group
	content []byte
}

// writeTar writes an archive of files that have all the same time.
func writeTar(w io.Writer, date time.Time, files []file) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner,
			Size: int64(len(f.content)), ModTime: date, Format: tar.FormatPAX,
		}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// Command pack makes npm packages and a container image of the programs of a release.
//
// Usage: pack -version v1.2.3 -date 2026-01-02T03:04:05Z -revision COMMIT -dist DIR
//
// It reads the programs beam-VERSION-OS-ARCH in DIR and LICENSE in the current folder, and writes to DIR:
//
//   - an npm package with the command, and one with the program for each system;
//   - the image for Linux, an OCI image layout in a tar file, if there are programs for Linux.
//
// The same programs, date and version of Go make the same files. It needs no network, npm or container engine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	var r release
	date := flag.String("date", "", "the time of all files")
	flag.StringVar(&r.version, "version", "", "the version, with a v")
	flag.StringVar(&r.revision, "revision", "", "the commit that the programs are built from")
	flag.StringVar(&r.dist, "dist", "dist", "the folder of the programs")
	flag.Parse()
	if err := r.pack(*date); err != nil {
		fmt.Fprintf(os.Stderr, "pack: %v\n", err)
		os.Exit(1)
	}
}

// A release is what all packages of a release share.
type release struct {
	version, revision, dist string
	date                    time.Time
	license                 []byte
}

// A program is one of the release's, for one system.
type program struct {
	os, arch string // as Go calls them
	content  []byte
}

func (r *release) pack(date string) error {
	var err error
	if r.date, err = time.Parse(time.RFC3339, date); err != nil {
		return err
	}
	if r.license, err = os.ReadFile("LICENSE"); err != nil {
		return err
	}
	programs, err := r.readPrograms()
	if err != nil {
		return err
	}
	return errors.Join(r.writeNPM(programs), r.writeImage(programs))
}

// readPrograms reads the programs in the folder, in the order of their names.
func (r *release) readPrograms() (programs []program, err error) {
	prefix := filepath.Join(r.dist, "beam-"+r.version+"-")
	files, err := filepath.Glob(prefix + "*-*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		goos, arch, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, prefix), ".exe"), "-")
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program{goos, arch, content})
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no programs %s*", prefix)
	}
	return programs, nil
}

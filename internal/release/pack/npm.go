package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

const (
	npmName    = "@photon-beam/beam"
	repository = "https://github.com/photon-beam/beam"
)

var (
	//go:embed npm/beam.js
	beamJS []byte
	//go:embed npm/README.md
	npmReadme []byte
)

// A manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Repository           map[string]string `json:"repository"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"` // a program must be a file for Yarn, too
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// writeNPM writes a package for each program, of which npm installs the one for its system, and
// the package with the command, which starts that.
func (r *release) writeNPM(programs []program) error {
	command := r.newManifest(npmName, "Tools that stop to ask")
	command.Bin = map[string]string{"beam": "bin/beam.js"}
	command.Engines = map[string]string{"node": ">=18"}
	command.OptionalDependencies = make(map[string]string)
	for _, p := range programs {
		goos, cpu := npmSystem(p)
		m := r.newManifest(npmName+"-"+goos+"-"+cpu, "The program of "+npmName+" for "+goos+" on "+cpu)
		m.OS, m.CPU, m.PreferUnplugged = []string{goos}, []string{cpu}, true
		name := "bin/beam"
		if p.os == "windows" {
			name += ".exe"
		}
		if err := r.writePackage(m, file{name: name, mode: 0o755, content: p.content}); err != nil {
			return err
		}
		command.OptionalDependencies[m.Name] = m.Version
	}
	return r.writePackage(command, file{name: "bin/beam.js", mode: 0o755, content: beamJS}, file{name: "README.md", mode: 0o644, content: npmReadme})
}

func (r *release) newManifest(name, description string) manifest {
	return manifest{
		Name: name, Version: strings.TrimPrefix(r.version, "v"), Description: description, License: "MIT",
		Repository: map[string]string{"type": "git", "url": "git+" + repository + ".git"},
	}
}

// npmSystem returns what Node calls a program's system and processor.
func npmSystem(p program) (goos, cpu string) {
	goos, cpu = p.os, p.arch
	if goos == "windows" {
		goos = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return goos, cpu
}

// writePackage writes a package as npm pack would, to a file with the same name.
func (r *release) writePackage(m manifest, files ...file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append([]file{{name: "package.json", mode: 0o644, content: append(text, '\n')}, {name: "LICENSE", mode: 0o644, content: r.license}}, files...)
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	if err := writeTar(compressed, r.date, files); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	name := strings.NewReplacer("@", "", "/", "-").Replace(m.Name) + "-" + m.Version + ".tgz"
	return os.WriteFile(filepath.Join(r.dist, name), packed.Bytes(), 0o644)
}

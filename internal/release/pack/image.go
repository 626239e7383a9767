package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the user of the image, and the owner of its folders. Nobody else has this number.
const user = 65532

// writeImage writes the image of the programs for Linux, if there are any.
func (r *release) writeImage(programs []program) error {
	base, err := r.baseLayer()
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	found := false
	for _, p := range programs {
		if p.os != "linux" {
			continue
		}
		image, err := r.buildImage(p, base)
		if err != nil {
			return err
		}
		platform := &v1.Platform{OS: p.os, Architecture: p.arch}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
		found = true
	}
	if !found {
		return nil
	}
	return r.writeLayout(index)
}

// buildImage returns the image with a program. It is that of docs/recipes/Containerfile, with
// the base layer.
func (r *release) buildImage(p program, base v1.Layer) (v1.Image, error) {
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: v1.Time{Time: r.date}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:         "65532:65532",
			Env:          []string{"PATH=/", "ZONEINFO=/zoneinfo.zip"},
			Entrypoint:   []string{"/beam"},
			Cmd:          []string{"serve", "--addr", ":3008", "--data", "/data"},
			ExposedPorts: map[string]struct{}{"3008/tcp": {}},
			Volumes:      map[string]struct{}{"/data": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title": "Beam", "org.opencontainers.image.licenses": "MIT", "org.opencontainers.image.source": repository,
				"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.revision,
			},
		},
	})
	if err != nil {
		return nil, err
	}
	layer, err := r.newLayer([]file{{name: "beam", mode: 0o755, content: p.content}})
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "make release"}
	return mutate.Append(image, mutate.Addendum{Layer: base, History: created}, mutate.Addendum{Layer: layer, History: created})
}

// baseLayer returns what a system usually has for a program: certificates of authorities, time
// zones, a folder for temporary files. It also has the data folder.
func (r *release) baseLayer() (v1.Layer, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	zones, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	return r.newLayer([]file{
		{name: "data/", mode: 0o700, owner: user},
		{name: "etc/", mode: 0o755},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities()},
		{name: "tmp/", mode: 0o700, owner: user},
		{name: "zoneinfo.zip", mode: 0o644, content: zones},
	})
}

// authorities returns the certificates of Mozilla's list as PEM, but those that are trusted under
// a condition, which a certificate can't express.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}

func (r *release) newLayer(files []file) (v1.Layer, error) {
	var b bytes.Buffer
	if err := writeTar(&b, r.date, files); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// writeLayout writes the images as an OCI image layout in a tar file.
func (r *release) writeLayout(index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "beam-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	written, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": "beam:" + r.version}
	if err := written.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	files, err := readFolder(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeTar(&b, r.date, files); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dist, "beam-"+r.version+"-image.tar"), b.Bytes(), 0o644)
}

// readFolder reads all files in a folder, in the order of their names.
func readFolder(dir string) (files []file, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		files = append(files, file{name: name, mode: 0o644, content: content})
		return err
	})
	return files, err
}

package release

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkImage checks the layout, the configuration and the layers of the image, and runs it, if
// this system lets a test change its root folder.
func checkImage(t *testing.T, dist, program string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there is an image for Linux only")
	}
	archive, err := os.Open(filepath.Join(dist, "beam-"+version+"-image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	folder := t.TempDir()
	unpack(t, archive, folder)
	image := loadImage(t, folder)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if config.OS != "linux" || config.Architecture != runtime.GOARCH || c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/beam"}) ||
		!slices.Equal(c.Cmd, []string{"serve", "--addr", ":3008", "--data", "/data"}) || c.Labels["org.opencontainers.image.version"] != version {
		t.Errorf("the configuration is %+v", config)
	}
	files := mutate.Extract(image)
	defer files.Close()
	rootFolder := t.TempDir()
	unpack(t, files, rootFolder)
	if sha256.Sum256([]byte(readFile(t, rootFolder, "beam"))) != sha256.Sum256([]byte(readFile(t, program))) {
		t.Error("the image has another program than the release")
	}
	if n := strings.Count(readFile(t, rootFolder, "etc", "ssl", "certs", "ca-certificates.crt"), "BEGIN CERTIFICATE"); n < 100 {
		t.Errorf("there are %d certificates of authorities", n)
	}
	runInImage(t, rootFolder, c)
}

// loadImage reads and verifies the only image of a layout.
func loadImage(t *testing.T, folder string) v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	images, err := partial.FindImages(onlyIndex(t, index), func(d v1.Descriptor) bool { return d.MediaType == types.OCIManifestSchema1 })
	if err != nil || len(images) != 1 {
		t.Fatalf("the index has %d images, %v", len(images), err)
	}
	return images[0]
}

// onlyIndex returns the index of images that an index consists of.
func onlyIndex(t *testing.T, index v1.ImageIndex) v1.ImageIndex {
	t.Helper()
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Manifests) != 1 || m.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "beam:"+version {
		t.Fatalf("index.json has %+v", m.Manifests)
	}
	images, err := index.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// runInImage runs the entry point with the image's files, environment and user.
func runInImage(t *testing.T, rootFolder string, c v1.Config) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can change the root folder of a process")
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "chroot", append([]string{"--userspec=" + c.User, rootFolder, c.Entrypoint[0]}, args...)...)
		cmd.Env = c.Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return string(out)
	}
	if got := run("--version"); got != "beam "+version+"\n" {
		t.Errorf("the version is %q", got)
	}
	if got := run("run", "countdown", "--seconds", "1", "--data", "/data", "--output", "json"); got == "" {
		t.Error("a run has no result")
	}
	if _, err := os.Stat(filepath.Join(rootFolder, "data", "beam.db")); err != nil {
		t.Error(err)
	}
}

// unpack unpacks an archive, with the modes and owners of its files where that is allowed.
func unpack(t *testing.T, r io.Reader, folder string) {
	t.Helper()
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content bytes.Buffer
			_, err = content.ReadFrom(archive)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content.Bytes(), 0o644))
		}
		if err := errors.Join(err, os.Chmod(path, os.FileMode(h.Mode))); err != nil {
			t.Fatal(err)
		}
		_ = os.Lchown(path, h.Uid, h.Gid) // only root may
	}
}

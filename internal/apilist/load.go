package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A listedPackage is what `go list` prints of a package.
type listedPackage struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	DepOnly                            bool
}

// A loader type-checks packages of this module. It reads what they import from the
// export data that the go command makes.
type loader struct {
	fset     *token.FileSet
	importer types.Importer
	packages []listedPackage // those that match the patterns
}

// newLoader lists the packages that match patterns, such as "./ask".
func newLoader(root string, patterns ...string) (*loader, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-test", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,DepOnly"}, patterns...)...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	l := &loader{fset: token.NewFileSet()}
	exports := map[string]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if strings.ContainsAny(p.ImportPath, " ") || strings.HasSuffix(p.ImportPath, ".test") {
			continue // made for a test
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			l.packages = append(l.packages, p)
		}
	}
	l.importer = importer.ForCompiler(l.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	return l, nil
}

// check type-checks some files of a package. It tolerates errors, which the compiler
// reports.
func (l *loader) check(p listedPackage, names []string) (*types.Package, *types.Info, error) {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(l.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: l.importer, Error: func(error) {}}
	checked, _ := config.Check(p.ImportPath, l.fset, files, info)
	return checked, info, nil
}

// Command apilist writes a list of the public API, one exported name a line.
//
//	apilist FILE
//
// FILE is in the root of the module.
//
// A test checks that each name is used by a photon that Beam ships, by an example, or by
// the conformance fixture.
package main

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:generate go run . ../../api.txt

// publicPackages holds the packages that programs in other modules import.
var publicPackages = []string{".", "./ask", "./beamtest", "./generators"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: apilist FILE")
		os.Exit(2)
	}
	if err := run(filepath.Dir(os.Args[1]), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "apilist:", err)
		os.Exit(1)
	}
}

// run writes the list of the module in the folder root to a file.
func run(root, path string) error {
	names, err := listAPI(root)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintln(&b, n.line)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// An apiName is an exported name.
type apiName struct {
	id       string   // import path, type if any, and name
	line     string   // what api.txt says of it
	mentions []string // the ids of the types that it has
}

// listAPI returns the exported names of the public packages, in alphabetical order.
func listAPI(root string) ([]apiName, error) {
	l, err := newLoader(root, publicPackages...)
	if err != nil {
		return nil, err
	}
	var all []apiName
	for _, p := range l.packages {
		pkg, _, err := l.check(p, p.GoFiles)
		if err != nil {
			return nil, err
		}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				all = append(all, namesOf(obj)...)
			}
		}
	}
	slices.SortFunc(all, func(a, b apiName) int { return strings.Compare(a.line, b.line) })
	return all, nil
}

// namesOf returns the name of an object of a package, and those of its fields and
// methods if it is a type.
func namesOf(obj types.Object) []apiName {
	pkg := obj.Pkg()
	qualifier := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	id := pkg.Path() + "." + obj.Name()
	typeName, isType := obj.(*types.TypeName)
	if !isType {
		return []apiName{{id, pkg.Name() + ": " + withoutValue(types.ObjectString(obj, qualifier)), mentionedTypes(obj)}}
	}
	kind := types.ObjectString(obj, qualifier)
	if !typeName.IsAlias() {
		if _, ok := obj.Type().Underlying().(*types.Struct); ok {
			kind, _, _ = strings.Cut(kind, " struct{")
			kind += " struct"
		} else if _, ok := obj.Type().Underlying().(*types.Interface); ok {
			kind, _, _ = strings.Cut(kind, " interface{")
			kind += " interface"
		}
	}
	all := []apiName{{id: id, line: pkg.Name() + ": " + kind}}
	if typeName.IsAlias() && !strings.Contains(aliasedPath(obj), "/internal/") {
		return all
	}
	for _, m := range members(obj.Type()) {
		if m.Exported() {
			text := strings.TrimPrefix(strings.TrimPrefix(types.ObjectString(m, qualifier), "field "), "func ")
			if _, isField := m.(*types.Var); isField {
				text = "field " + obj.Name() + "." + text
			} else {
				text = "method " + text
			}
			all = append(all, apiName{id + "." + m.Name(), pkg.Name() + ": " + text, append(mentionedTypes(m), id)})
		}
	}
	return all
}

var typeOfModule = regexp.MustCompile(`github\.com/photon-beam/beam(/[a-z]+)?\.[A-Z]\w*`)

// mentionedTypes returns the ids of the types of this module in the type of an object.
func mentionedTypes(obj types.Object) []string {
	return typeOfModule.FindAllString(types.TypeString(obj.Type(), nil), -1)
}

// aliasedPath returns the import path of the type that an alias names.
func aliasedPath(obj types.Object) string {
	if named, ok := types.Unalias(obj.Type()).(*types.Named); ok && named.Obj().Pkg() != nil {
		return named.Obj().Pkg().Path()
	}
	return ""
}

// members returns the fields of a struct, and the methods that are declared of a type.
func members(t types.Type) []types.Object {
	var all []types.Object
	if named, ok := types.Unalias(t).(*types.Named); ok {
		for m := range named.Methods() {
			all = append(all, m)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			all = append(all, f)
		}
	case *types.Interface:
		for m := range u.ExplicitMethods() {
			all = append(all, m)
		}
	}
	return all
}

// withoutValue drops the value of a constant.
func withoutValue(text string) string {
	if strings.HasPrefix(text, "const ") {
		text, _, _ = strings.Cut(text, " = ")
	}
	return text
}

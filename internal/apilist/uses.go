package main

import (
	"go/types"
	"slices"
)

// usedNames returns the ids of the exported names of other packages that some files of
// packages use. Files returns the files of a package that count, each list of which is
// one Go package.
func usedNames(root string, files func(listedPackage) [][]string, patterns ...string) (map[string]bool, error) {
	l, err := newLoader(root, patterns...)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, p := range l.packages {
		for _, names := range files(p) {
			checked, info, err := l.check(p, names)
			if err != nil {
				return nil, err
			}
			for _, obj := range info.Uses {
				if obj.Pkg() != nil && obj.Exported() && obj.Pkg() != checked {
					used[objectID(obj)] = true
				}
			}
		}
	}
	return used, nil
}

// objectID returns the id of a name that another package declares.
func objectID(obj types.Object) string {
	switch o := obj.(type) {
	case *types.Func:
		o = o.Origin()
		if recv := o.Signature().Recv(); recv != nil {
			return typeID(recv.Type()) + "." + o.Name()
		}
	case *types.Var:
		if o.IsField() {
			return fieldID(o.Origin())
		}
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// typeID returns the id of a named type, or of the type that a pointer points to.
func typeID(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Pkg().Path() + "." + named.Obj().Name()
	}
	return ""
}

// fieldID returns the id of a field of a struct type that a package declares.
func fieldID(field *types.Var) string {
	scope := field.Pkg().Scope()
	for _, name := range scope.Names() {
		s, ok := scope.Lookup(name).Type().Underlying().(*types.Struct)
		if ok && slices.Contains(slices.Collect(s.Fields()), field) {
			return field.Pkg().Path() + "." + name + "." + field.Name()
		}
	}
	return ""
}

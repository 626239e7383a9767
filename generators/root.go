package generators

import "context"

// WithRoot returns a context that allows photons to read the folder dir of this
// machine and everything below it; see [Root]. An empty dir allows nothing, even if
// ctx did. The operator chooses the folder (--root).
func WithRoot(ctx context.Context, dir string) context.Context {
	return context.WithValue(ctx, rootKey{}, dir)
}

// Root returns the folder that the operator allows photons to read. It reports false
// if there is none. A photon must open the folder with [os.OpenRoot], so that no path
// or link leads out of it, and must not change anything in it.
func Root(ctx context.Context) (dir string, ok bool) {
	dir, _ = ctx.Value(rootKey{}).(string)
	return dir, dir != ""
}

type rootKey struct{}

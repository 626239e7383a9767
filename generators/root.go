package generators

import "context"

// WithRoot returns a context under which photons may read the folder dir of
// this machine and everything below it; see [Root]. An empty dir allows
// nothing, whatever ctx allowed before. Which folder that is, if any, is the
// operator's to say (--root).
func WithRoot(ctx context.Context, dir string) context.Context {
	return context.WithValue(ctx, rootKey{}, dir)
}

// Root is the folder that the operator allows photons to read; ok is false if
// there is none. A photon opens it with [os.OpenRoot], so that no path and no
// link leads out of it, and changes nothing in it.
func Root(ctx context.Context) (dir string, ok bool) {
	dir, _ = ctx.Value(rootKey{}).(string)
	return dir, dir != ""
}

type rootKey struct{}

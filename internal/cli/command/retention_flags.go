package command

import (
	"errors"
	"time"

	"github.com/photon-beam/beam/internal/engine"
)

// retentionFlags are the flags that limit which finished runs are kept.
type retentionFlags struct {
	KeepFor  Duration `default:"7d" placeholder:"TIME" help:"How long to keep finished runs (default ${default}). Waiting runs are never deleted."`
	KeepEach int      `default:"1000" placeholder:"N" help:"The most finished runs to keep for one owner (default ${default})."`
	KeepAll  int      `default:"20000" placeholder:"N" help:"The most finished runs to keep in all (default ${default})."`
	KeepSize Size     `placeholder:"SIZE" help:"The most space that finished runs and their files may take, as in 10GB. By default, there is no limit."`
}

func (r *retentionFlags) validate() error {
	if r.KeepFor <= 0 || r.KeepEach <= 0 || r.KeepAll <= 0 {
		return errors.New("--keep-for, --keep-each and --keep-all must be more than 0")
	}
	return nil
}

// setRetention returns l with the limits that the flags set.
func (r *retentionFlags) setRetention(l engine.Limits) engine.Limits {
	l.RetainFor, l.MaxFinishedPerOwner, l.MaxFinished, l.MaxFinishedBytes = time.Duration(r.KeepFor), r.KeepEach, r.KeepAll, int64(r.KeepSize)
	return l
}

package command

import (
	"errors"

	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
)

// budgetFlags are the flags that bound what works at once, for one caller and in all.
type budgetFlags struct {
	WorkingEach int64 `default:"500" placeholder:"N" help:"The most runs of one caller that may work at once (default ${default}). Runs that wait or sleep don't count."`
	WorkingAll  int64 `default:"2000" placeholder:"N" help:"The most runs that may work at once in all (default ${default})."`
	DiskEach    Size  `default:"32GiB" placeholder:"SIZE" help:"The most space that the files, artifacts and large results of one caller's runs may take (default ${default})."`
	DiskAll     Size  `default:"128GiB" placeholder:"SIZE" help:"The most space that files, artifacts and large results may take in all (default ${default})."`
}

func (f *budgetFlags) validate() error {
	for _, n := range []int64{f.WorkingEach, f.WorkingAll, int64(f.DiskEach), int64(f.DiskAll)} {
		if n <= 0 {
			return errors.New("--working-each, --working-all, --disk-each and --disk-all must be more than 0")
		}
	}
	return nil
}

// setBudgets returns l with the limits that the flags set.
func (f *budgetFlags) setBudgets(l engine.Limits) engine.Limits {
	l.Working = budget.Limit{Each: f.WorkingEach, All: f.WorkingAll}
	l.Disk = budget.Limit{Each: int64(f.DiskEach), All: int64(f.DiskAll)}
	return l
}

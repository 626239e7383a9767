package assets

import (
	"fmt"
	"sync"

	"github.com/photon-beam/beam/static"
)

// Pages returns the set of the files that Beam's pages load, which the first call
// creates.
var Pages = sync.OnceValue(func() *Set {
	set, err := New(static.Files())
	if err != nil {
		panic(fmt.Sprintf("assets: %v", err))
	}
	return set
})

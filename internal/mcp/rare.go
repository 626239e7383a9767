package mcp

// A rare is what few calls have, apart so that the thousands that wait don't
// pay for it. It is guarded by the call's mu. The methods may be called on nil.
type rare struct {
	lacks  []*lack             // what the client lacked for questions
	linked map[uint64]struct{} // questions that it was told the address of, as it can't be asked
	// progress is the highest that was told.
	progress float64
}

// unusual is the call's rare, made if need be. Callers hold mu.
func (c *call) unusual() *rare {
	if c.rare == nil {
		c.rare = &rare{}
	}
	return c.rare
}

func (r *rare) lacking() []*lack {
	if r == nil {
		return nil
	}
	return r.lacks
}

func (r *rare) links() map[uint64]struct{} {
	if r == nil {
		return nil
	}
	return r.linked
}

// progressed is the highest progress that was told.
func (r *rare) progressed() float64 {
	if r == nil {
		return 0
	}
	return r.progress
}

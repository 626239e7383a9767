package store

import (
	"github.com/photon-beam/beam/internal/runlog"
)

// mustSync reports whether an append must survive a power failure before it is acknowledged:
// what a person, a client or a model has decided, the outcome of a step, which must not
// happen twice, and the start of a durable run, which its caller won't repeat. The rest is
// lost at most with what happened in the same second, and happens again.
func mustSync(entries []runlog.Entry) bool {
	var v syncVisitor
	for _, e := range entries {
		if err := e.Visit(&v); err != nil || v.must {
			return true
		}
	}
	return false
}

type syncVisitor struct{ must bool }

var _ runlog.Visitor = (*syncVisitor)(nil)

func (v *syncVisitor) sync() error { v.must = true; return nil }

func (v *syncVisitor) Started(_ runlog.Entry, s runlog.Started) error {
	v.must = v.must || s.Durable
	return nil
}

func (v *syncVisitor) Finished(_ runlog.Entry, f runlog.Finished) error {
	v.must = v.must || f.Ask != nil || f.Surface != "" // without an answer, or stopped
	return nil
}

func (v *syncVisitor) Answered(runlog.Entry, runlog.Answered) error   { return v.sync() }
func (v *syncVisitor) Stepped(runlog.Entry, runlog.Stepped) error     { return v.sync() }
func (v *syncVisitor) Withdrawn(runlog.Entry, runlog.Withdrawn) error { return v.sync() }
func (v *syncVisitor) Adopted(runlog.Entry, runlog.Adopted) error     { return v.sync() }
func (v *syncVisitor) Sampling(_ runlog.Entry, s runlog.Sampling) error {
	v.must = v.must || s.Text == "" // a part of a reply comes again
	return nil
}
func (v *syncVisitor) Queued(runlog.Entry, runlog.Queued) error     { return nil }
func (v *syncVisitor) Claimed(runlog.Entry, runlog.Claimed) error   { return nil }
func (v *syncVisitor) Asked(runlog.Entry, runlog.Asked) error       { return nil }
func (v *syncVisitor) Sleeping(runlog.Entry, runlog.Sleeping) error { return nil }
func (v *syncVisitor) Woken(runlog.Entry, runlog.Woken) error       { return nil }
func (v *syncVisitor) Repeated(runlog.Entry, runlog.Repeated) error { return nil }
func (v *syncVisitor) Parked(runlog.Entry, runlog.Parked) error     { return nil }
func (v *syncVisitor) Event(runlog.Entry) error                     { return nil }

package engine

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// blobRefs collects the digests of the blobs to which the data of entries refers.
type blobRefs []string

var _ runlog.Visitor = (*blobRefs)(nil)

func (b *blobRefs) Answered(_ runlog.Entry, a runlog.Answered) error {
	for _, f := range a.Answer.Files {
		*b = append(*b, f.Digest)
	}
	return nil
}

func (b *blobRefs) Finished(_ runlog.Entry, f runlog.Finished) error {
	*b = append(*b, f.ContentBlob, f.ResultBlob)
	return nil
}

func (b *blobRefs) Event(e runlog.Entry) error {
	if e.Kind != "artifact" {
		return nil
	}
	a, err := runlog.Decode[generators.Artifact](e)
	*b = append(*b, a.Digest)
	return err
}

func (*blobRefs) Started(runlog.Entry, runlog.Started) error     { return nil }
func (*blobRefs) Queued(runlog.Entry, runlog.Queued) error       { return nil }
func (*blobRefs) Claimed(runlog.Entry, runlog.Claimed) error     { return nil }
func (*blobRefs) Asked(runlog.Entry, runlog.Asked) error         { return nil }
func (*blobRefs) Stepped(runlog.Entry, runlog.Stepped) error     { return nil }
func (*blobRefs) Withdrawn(runlog.Entry, runlog.Withdrawn) error { return nil }
func (*blobRefs) Sleeping(runlog.Entry, runlog.Sleeping) error   { return nil }
func (*blobRefs) Woken(runlog.Entry, runlog.Woken) error         { return nil }
func (*blobRefs) Repeated(runlog.Entry, runlog.Repeated) error   { return nil }
func (*blobRefs) Adopted(runlog.Entry, runlog.Adopted) error     { return nil }
func (*blobRefs) Sampling(runlog.Entry, runlog.Sampling) error   { return nil }

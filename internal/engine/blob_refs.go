package engine

import (
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// refersTo reports whether the data of an entry refers to a blob.
func refersTo(e runlog.Entry, digest string) (bool, error) {
	refs := blobRefs{Rest: func(runlog.Entry) error { return nil }}
	err := e.Visit(&refs)
	return slices.Contains(refs.digests, digest), err
}

// blobRefs collects the digests of the blobs to which the data of entries refers.
type blobRefs struct {
	runlog.Rest
	digests []string
}

var _ runlog.Visitor = (*blobRefs)(nil)

func (b *blobRefs) Answered(_ runlog.Entry, a runlog.Answered) error {
	for _, f := range a.Answer.Files {
		b.digests = append(b.digests, f.Digest)
	}
	return nil
}

func (b *blobRefs) Finished(_ runlog.Entry, f runlog.Finished) error {
	b.digests = append(b.digests, f.ContentBlob, f.ResultBlob)
	return nil
}

func (b *blobRefs) Event(e runlog.Entry) error {
	if e.Kind != "artifact" {
		return nil
	}
	a, err := runlog.Decode[generators.Artifact](e)
	b.digests = append(b.digests, a.Digest)
	return err
}

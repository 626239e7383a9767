package runlog

import (
	"slices"

	"github.com/photon-beam/beam/generators"
)

// Blobs returns the digests of the blobs to which an entry, or its data, refers.
func (e Entry) Blobs() (digests []string, err error) {
	refs := blobRefs{Rest: func(Entry) error { return nil }, digests: []string{e.Blob}}
	if e.Data != nil {
		err = e.Visit(&refs)
	}
	return slices.DeleteFunc(refs.digests, func(d string) bool { return d == "" }), err
}

// blobRefs collects the digests of the blobs to which the data of entries refers.
type blobRefs struct {
	Rest
	digests []string
}

func (b *blobRefs) Answered(_ Entry, a Answered) error {
	for _, f := range a.Answer.Files {
		b.digests = append(b.digests, f.Digest)
	}
	return nil
}

func (b *blobRefs) Finished(_ Entry, f Finished) error {
	b.digests = append(b.digests, f.ContentBlob, f.ResultBlob)
	return nil
}

func (b *blobRefs) Event(e Entry) error {
	if e.Kind != "artifact" {
		return nil
	}
	a, err := Decode[generators.Artifact](e)
	b.digests = append(b.digests, a.Digest)
	return err
}

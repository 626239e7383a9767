package ask

import (
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// maxEvidence is the maximum size of the artifacts that a question shows, in bytes
// and in all.
const maxEvidence = 1 << 20

// Showing shows artifacts with the question, for the person to decide by:
// [generators.Code], [generators.TableOf], [generators.Diff] and so on. They are part
// of the question. A replay must ask with the same ones, so what they are made of
// belongs in a step. More than 1 MiB of them is refused: yield the whole as an
// artifact of the run, and show what matters.
//
// Without artifacts, it says that the message is all there is to decide by, which package
// beamtest otherwise doubts of what can't be undone.
func Showing(artifacts ...generators.Event) Option {
	return Option{func(q *askdata.Question) error {
		if q.Evidence == nil {
			q.Evidence = []*generators.Artifact{}
		}
		size := 0
		for _, e := range q.Evidence {
			size += len(e.Body)
		}
		for _, e := range artifacts {
			a, err := copyArtifact(e)
			if err != nil {
				return err
			}
			if size += len(a.Body); size > maxEvidence {
				return fmt.Errorf("ask.Showing: the artifacts have more than %d bytes, the most that a question may show", maxEvidence)
			}
			q.Evidence = append(q.Evidence, a)
		}
		return nil
	}}
}

// copyArtifact returns an artifact as a log records it.
func copyArtifact(e generators.Event) (*generators.Artifact, error) {
	a, ok := e.(*generators.Artifact)
	if !ok || a == nil {
		return nil, fmt.Errorf("ask.Showing: shows artifacts, not a %T", e)
	}
	kind, raw, err := driver.Encode(a)
	if err != nil {
		return nil, fmt.Errorf("ask.Showing: %w", err)
	}
	decoded, err := driver.Decode(kind, raw)
	if err != nil {
		return nil, fmt.Errorf("ask.Showing: %w", err)
	}
	return decoded.(*generators.Artifact), nil
}

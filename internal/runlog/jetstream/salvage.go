package jetstream

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/minio/highwayhash"

	"github.com/photon-beam/beam/internal/runlog"
)

// salvage calls f for each readable message of a log, in order: of each run, the
// messages from the first one up to the first that is missing. It reads the
// blocks again.
func salvage(dir string, state folderState, f func(messageHead) error) (Report, error) {
	out := &salvager{yield: f, nextSeqs: make(map[string]uint64), report: Report{Truncated: make(map[string]uint64)}}
	if len(state.index.blocks) == 0 { // an earlier error kept the blocks from being read
		found, err := indexBlocks(dir)
		if err != nil {
			return out.report, err
		}
		state.index = found
	}
	_, deleted := state.mark.expectedMessages()
	var buf []byte
	for _, b := range state.index.blocks {
		var err error
		if buf, err = readFileInto(buf, b.path); err != nil {
			return out.report, err
		}
		for _, m := range b.messages {
			if state.index.isDeleted(m.seq) || m.seq <= state.mark.Last && deleted[m.subject] {
				continue
			}
			if err := out.add(b, buf[m.start:m.end]); err != nil {
				return out.report, err
			}
		}
	}
	out.report.Runs = len(out.nextSeqs)
	slices.Sort(out.report.Headless)
	return out.report, nil
}

type salvager struct {
	yield    func(messageHead) error
	nextSeqs map[string]uint64 // by run, the ordinal that follows the messages read
	report   Report
}

// add passes a message on if it follows those already read of its run, and updates
// the report.
func (s *salvager) add(b *block, raw []byte) error {
	h, err := readMessage(b.number, raw)
	if err != nil {
		return nil // the next message of the run shows that this one is missing
	}
	run := string(h.run)
	next, known := s.nextSeqs[run]
	_, holed := s.report.Truncated[run]
	switch {
	case holed || known && h.lastSeq < next: // or it is a duplicate
		return nil
	case !known && h.firstSeq > 1:
		if !slices.Contains(s.report.Headless, run) {
			s.report.Headless = append(s.report.Headless, run)
		}
		return nil
	case known && h.firstSeq > next:
		s.report.Truncated[run] = next
		return nil
	}
	s.nextSeqs[run] = h.lastSeq + 1
	s.report.Messages++
	return s.yield(h)
}

// readMessage decodes a message from its record in a block.
func readMessage(block uint32, raw []byte) (messageHead, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", streamName, block))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return messageHead{}, err
	}
	r, ok := readRecord(raw, sum)
	if !ok {
		return messageHead{}, fmt.Errorf("%w: a block has changed since it was indexed", ErrCorrupt)
	}
	h, err := decodeHead(slices.Clone(r.body))
	if err == nil {
		_, err = h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
	}
	return h, err
}

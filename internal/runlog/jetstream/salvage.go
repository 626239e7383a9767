package jetstream

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/minio/highwayhash"

	"github.com/photon-beam/beam/internal/runlog"
)

// salvage calls f for what can be read of a log's messages, in their order: of
// each run, those from the beginning up to the first that is missing. It reads
// the blocks once more.
func salvage(dir string, s state, f func(messageHead) error) (Report, error) {
	v := &salvaging{f: f, next: make(map[string]uint64), report: Report{Holed: make(map[string]uint64)}}
	if len(s.survey.blocks) == 0 { // something else was wrong before they were read
		found, err := surveyBlocks(dir)
		if err != nil {
			return v.report, err
		}
		s.survey = found
	}
	_, deleted := s.mark.left()
	var buf []byte
	for _, b := range s.survey.blocks {
		var err error
		if buf, err = readFileInto(buf, b.path); err != nil {
			return v.report, err
		}
		for _, m := range b.messages {
			if s.survey.isDeleted(m.seq) || m.seq <= s.mark.Last && deleted[m.subject] {
				continue
			}
			if err := v.take(b, buf[m.at:m.end]); err != nil {
				return v.report, err
			}
		}
	}
	v.report.Runs = len(v.next)
	slices.Sort(v.report.Headless)
	return v.report, nil
}

type salvaging struct {
	f      func(messageHead) error
	next   map[string]uint64 // by run, the ordinal that follows what was read
	report Report
}

// take takes one message, if it follows what was read of its run.
func (v *salvaging) take(b *block, raw []byte) error {
	h, err := messageIn(b.number, raw)
	if err != nil {
		return nil // what is missing is found by the message that follows it
	}
	run := string(h.run)
	next, known := v.next[run]
	_, holed := v.report.Holed[run]
	switch {
	case holed || known && h.lastSeq < next: // the second is there twice
		return nil
	case !known && h.firstSeq > 1:
		if !slices.Contains(v.report.Headless, run) {
			v.report.Headless = append(v.report.Headless, run)
		}
		return nil
	case known && h.firstSeq > next:
		v.report.Holed[run] = next
		return nil
	}
	v.next[run] = h.lastSeq + 1
	v.report.Messages++
	return v.f(h)
}

// messageIn reads the record of a message.
func messageIn(block uint32, raw []byte) (messageHead, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", streamName, block))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return messageHead{}, err
	}
	r, ok := readRecord(raw, sum)
	if !ok {
		return messageHead{}, fmt.Errorf("%w: it has changed since it was read", ErrCorrupt)
	}
	h, err := decodeHead(slices.Clone(r.body))
	if err == nil {
		_, err = h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
	}
	return h, err
}

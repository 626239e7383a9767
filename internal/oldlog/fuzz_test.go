package oldlog

import (
	"os"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// FuzzBlock checks that each byte of a block is part of one record or of one bad span.
func FuzzBlock(f *testing.F) {
	b := block{number: 1}
	for _, seed := range [][]byte{nil, make([]byte, 30), make([]byte, 100)} {
		f.Add(sealRecord(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, buf := range [][]byte{raw, sealRecord(raw)} {
			covered := 0
			err := b.scan(buf, func(at int, r record) error {
				covered += r.size
				if at+r.size > len(buf) || len(r.subject)+len(r.body) > r.size {
					t.Fatalf("at %d of %d there is %+v", at, len(buf), r)
				}
				_, _, _ = decodeMessage(r.body, nil)
				return nil
			})
			for _, s := range b.bad {
				covered += int(s.to - s.from)
			}
			if err != nil || covered != len(buf) {
				t.Fatalf("%d bytes of %d; %v", covered, len(buf), err)
			}
		}
	})
}

// sealRecord makes raw a message without a subject whose checksum is right.
func sealRecord(raw []byte) []byte {
	const head = recordHeadSize
	buf := append(make([]byte, head), raw...)
	n := len(buf) + checksumSize
	buf[0], buf[1], buf[2], buf[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	sum := (&block{number: 1}).newChecksum()
	_, _ = sum.Write(buf[4:20])
	_, _ = sum.Write(buf[head:])
	return sum.Sum(buf)
}

// FuzzMessage checks that entries have consecutive ordinals.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x01\x00\x01\x01\x01r\x00\x00\x01k\x00\x01d"))
	f.Add([]byte("\x02\x01\x05\x02\x01r\x00\x00\x01k\x00\x01d\x01g\x01s\x00\x00\x01k\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, entries, err := decodeMessage(raw, make([]runlog.Entry, 0, 1))
		if err != nil {
			return
		}
		for i, e := range entries {
			if e.Seq == 0 || e.Seq != entries[0].Seq+uint64(i) {
				t.Fatalf("entry %d is %d", i, e.Seq)
			}
		}
		if len(entries) == 0 {
			t.Fatal("there are no entries")
		}
	})
}

// FuzzStreamState checks that the server's own file can't crash the reader.
func FuzzStreamState(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x01\x01r\x02\x01\x01\x01\x01\x00\x05\x00\x05\x00\x00\x00\x00"))
	dir := f.TempDir()
	if err := os.MkdirAll(messagesDir(dir), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		sum := newChecksum(streamName)
		raw = append([]byte{11, 4}, raw...)
		_, _ = sum.Write(raw)
		if err := os.WriteFile(messagesDir(dir)+"/index.db", sum.Sum(raw), 0o600); err != nil {
			t.Fatal(err)
		}
		readFirstSeqs(dir)
	})
}

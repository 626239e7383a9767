package csv

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestRecordsAreThoseOfTheStandardLibrary reads files that encoding/csv writes.
func TestRecordsAreThoseOfTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var want [][]string
		for range 1 + random.IntN(5) {
			record := []string{"x"} // no record is blank
			for range random.IntN(4) {
				cell := make([]byte, random.IntN(6))
				for i := range cell {
					cell[i] = "ab\",; \n"[random.IntN(7)]
				}
				record = append(record, string(cell))
			}
			want = append(want, record)
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Comma, w.UseCRLF = rune(",;\t"[random.IntN(3)]), random.IntN(2) == 0
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		raw := text.String()
		r := newRecordReader(iotest.OneByteReader(strings.NewReader(raw)), w.Comma)
		for i := 0; ; i++ {
			got, err := r.next(nil)
			if err == io.EOF && i == len(want) {
				break
			}
			if err != nil || i >= len(want) || !slices.Equal(got, want[i]) || r.stray.N > 0 {
				t.Fatalf("record %d of %q is %q, %v, with %d stray quotes", i, raw, got, err, r.stray.N)
			}
		}
	}
}

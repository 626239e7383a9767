package message

import (
	"math"
	"testing"
)

// sentProgress is a progress that was sent.
type sentProgress struct{ value, total float64 }

func TestProgressRises(t *testing.T) {
	const status = math.MaxFloat64 // in place of progress: a mere status
	for name, tt := range map[string]struct {
		reported []sentProgress
		want     []sentProgress
	}{
		"as reported":            {[]sentProgress{{0, 4}, {1, 4}, {4, 4}}, []sentProgress{{0, 4}, {1, 4}, {4, 4}}},
		"falling":                {[]sentProgress{{0, 0}, {5, 0}, {3, 0}, {0, 0}}, []sentProgress{{0, 0}, {5, 0}, {6, 0}, {7, 0}}},
		"a total is shifted":     {[]sentProgress{{4, 4}, {1, 4}, {2, 4}}, []sentProgress{{4, 4}, {5, 8}, {6, 8}}},
		"beyond its total":       {[]sentProgress{{5, 4}}, []sentProgress{{5, 0}}},
		"statuses":               {[]sentProgress{{status, 0}, {status, 0}, {status, 0}}, []sentProgress{{0, 0}, {1, 0}, {2, 0}}},
		"statuses in between":    {[]sentProgress{{1, 4}, {status, 0}, {2, 4}, {3, 4}}, []sentProgress{{1, 4}, {2, 0}, {3, 5}, {4, 5}}},
		"fractions":              {[]sentProgress{{0.25, 1}, {0.5, 1}, {0.5, 1}}, []sentProgress{{0.25, 1}, {0.5, 1}, {1.5, 2}}},
		"a number that hides +1": {[]sentProgress{{1e300, 0}, {1e300, 0}}, []sentProgress{{1e300, 0}, {math.Nextafter(1e300, math.Inf(1)), 0}}},
	} {
		var p Progress
		for i, r := range tt.reported {
			var got sentProgress
			var ok bool
			if r.value == status {
				got.value, ok = p.Step()
			} else {
				got.value, got.total, ok = p.Advance(r.value, r.total)
			}
			if !ok || got != tt.want[i] {
				t.Errorf("%s: %v is sent as %v (%t), want %v", name, r, got, ok, tt.want[i])
			}
		}
	}
}

// TestProgressAtItsEnd checks that nothing is sent when no number is larger.
func TestProgressAtItsEnd(t *testing.T) {
	var p Progress
	p.RaiseTo(math.MaxFloat64)
	if value, ok := p.Step(); ok {
		t.Errorf("a status is sent as %v", value)
	}
	if value, _, ok := p.Advance(1, 2); ok {
		t.Errorf("progress is sent as %v", value)
	}
	if last, sent := p.Last(); last != math.MaxFloat64 || !sent {
		t.Errorf("the last value is %v, %t", last, sent)
	}
}

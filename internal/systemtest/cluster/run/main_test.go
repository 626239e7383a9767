package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRunFails(t *testing.T) {
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-replicas", "many"}, 2, "invalid value"},
		{[]string{"-program", "no-such-program"}, 1, "no-such-program"},
	} {
		var out, errs bytes.Buffer
		if got := run(t.Context(), test.args, &out, &errs); got != test.status || !strings.Contains(errs.String(), test.says) || out.Len() > 0 {
			t.Errorf("%v: status %d, prints %q and %q", test.args, got, &out, &errs)
		}
	}
}

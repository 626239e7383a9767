package runlog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// Entries are told without what concerns only the engine, and otherwise as they are.
func TestPublic(t *testing.T) {
	for _, tt := range []struct {
		entry  runlog.Entry
		told   bool
		hidden string
	}{
		{runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1, Program: "digest"}), false, ""},
		{runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "k", Value: []byte(`"value"`)}), true, "value"},
		{runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "k", Error: "no"}), true, "nothing"},
		{runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3, Sealed: []byte("secret"), Answer: askdata.Answer{Action: askdata.Accept}}), true, "sealed"},
		{runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed}), true, "nothing"},
		{runlog.Entry{Kind: runlog.KindAnswered, Data: []byte(`[]`)}, false, ""},
		{runlog.Entry{Kind: "later", Data: []byte(`{"value":1}`)}, true, "nothing"},
	} {
		tt.entry.Seq, tt.entry.Time = 7, time.Unix(1, 0)
		got, told := tt.entry.Public()
		if told != tt.told {
			t.Errorf("%s %s: told %v", tt.entry.Kind, tt.entry.Data, told)
		}
		if told && (strings.Contains(string(got.Data), tt.hidden) || got.Seq != 7 || !got.Time.Equal(tt.entry.Time) || got.Kind != tt.entry.Kind) {
			t.Errorf("%+v", got)
		}
		if tt.hidden == "nothing" && string(got.Data) != string(tt.entry.Data) {
			t.Errorf("changed to %s", got.Data)
		}
	}
}

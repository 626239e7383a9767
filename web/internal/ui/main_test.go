package ui

import (
	"os"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// The highlighter's regular expressions read a clock that one goroutine sets for all of
// them while any is used. If a test in a synctest bubble started that goroutine, the
// bubble couldn't end. So it is started here, and runs for an hour.
func TestMain(m *testing.M) {
	clock := regexp2.MustCompile("", regexp2.None)
	clock.MatchTimeout = time.Hour
	if _, err := clock.MatchString(""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// versions are those of the program that is upgraded: runs of the first fit the second, too.
var versions = []string{"first", "wrong", "second", "gone"}

// buildVersion builds a version of the program.
func buildVersion(t *testing.T, version string) string {
	return builder("upgraded-"+version, "github.com/photon-beam/beam/internal/systemtest/upgrade/program", "-ldflags", "-X main.version="+version)(t)
}

// A program is killed and replaced by other versions while runs are checked, parked and go on,
// and people answer. After the last start, with the first version, every question is answered
// once, every run completes, and no step ran again whose outcome was recorded.
func TestKilledUpgrades(t *testing.T) {
	times, seed := killCount(t), killSeed(t)
	t.Logf("BEAM_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	t.Setenv("BEAM_TEST_LEDGER", ledger)
	var bins []string
	for _, v := range versions {
		bins = append(bins, buildVersion(t, v))
	}
	p := &program{t: t, bin: bins[0], data: filepath.Join(dir, "data"), args: []string{"--evict-after", "20ms"}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(times)*5*time.Second)
	defer cancel()
	p.start()
	t.Cleanup(func() { p.kill() })
	c := newClient(t, p)
	var runs []string
	for n := range 30 {
		runs = append(runs, c.start(ctx, "deploy", fmt.Sprintf(`{"env":"prod%d"}`, n)))
	}
	for n := range times * 4 {
		p.kill()
		p.bin = bins[random.IntN(len(bins))]
		if n%2 == 0 { // so that some are parked, and some go on
			p.bin = bins[(n/2)%len(bins)]
		}
		p.start()
		up, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		for range 3 {
			from := random.IntN(len(runs))
			all.Go(func() { c.answerSome(up, runs, from, 1+len(runs)/(6*times)) }) // so that questions are left for the last start
		}
		time.Sleep(time.Duration(20+random.IntN(300)) * time.Millisecond) // so that it is killed at random times
		p.cmd.Process.Kill()
		stop()
		all.Wait()
	}
	p.kill()
	p.bin = bins[0]
	p.start()
	for _, id := range runs {
		for {
			s := c.readState(ctx, id)
			if s.State == "completed" {
				break
			}
			if s.State != "waiting" && s.State != "running" && s.State != "parked" || ctx.Err() != nil {
				t.Fatalf("the run %s is %s", id, s.State)
			}
			c.answerSome(ctx, []string{id}, 0, 1)
		}
	}
	p.kill()
	parked := checkUpgrades(t, p.data, runs, ledger)
	t.Logf("%d starts, %d runs, parked %d times", times*4+2, len(runs), parked)
	if parked == 0 {
		t.Error("no run was parked")
	}
}

// answerSome looks at runs, beginning with one of them, and answers questions, as long as the
// program is there.
func (c *client) answerSome(ctx context.Context, runs []string, from, most int) {
	do := func(method, path, body string) (status int, raw []byte) {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+c.program.addr+path, strings.NewReader(body))
		if err != nil {
			return 0, nil
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		response, err := c.http.Do(r)
		if err != nil {
			return 0, nil
		}
		defer response.Body.Close()
		raw, _ = io.ReadAll(response.Body)
		return response.StatusCode, raw
	}
	do("GET", "/asks", "")
	for i := range runs {
		if ctx.Err() != nil || most == 0 {
			return
		}
		var info struct {
			State string
			Asks  []struct {
				ID, Key  string
				Excluded bool
			}
		}
		if _, raw := do("GET", "/runs/"+runs[(from+i)%len(runs)], ""); json.Unmarshal(raw, &info) != nil {
			continue
		}
		for _, a := range info.Asks {
			status, raw := do("POST", "/mcp/request", fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{%q:"ada"}}}`, a.ID, a.Key))
			if status == http.StatusAccepted {
				most--
			}
			if a.Excluded && status == http.StatusAccepted {
				c.t.Errorf("the question %s of a run that is %s is answered: %s", a.ID, info.State, raw)
			}
		}
	}
}

// checkUpgrades checks the log and the ledger of the steps, and returns how often runs were parked.
func checkUpgrades(t *testing.T, dir string, runs []string, ledger string) (parked int) {
	checkLog(t, dir, nil)
	raw, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{} // the token of the last time that a step ran, by its key
	tokens := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) == 3 {
			last[words[0]] = words[2]
		}
	}
	for _, token := range last {
		tokens[`"`+token+`"`] = true
	}
	l, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answers, stepped, finished := 0, 0, 0
	for a, err := range runlog.Scan(t.Context(), l) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range a.Entries {
			switch e.Kind {
			case runlog.KindParked:
				parked++
			case runlog.KindAnswered:
				answers++
			case runlog.KindStepped:
				stepped++
				if s, err := runlog.Decode[runlog.Stepped](e); err != nil || !tokens[string(s.Value)] {
					t.Errorf("run %s: the step %s ran again after its outcome was recorded; %v", a.Run, s.Key, err)
				}
			case runlog.KindFinished:
				finished++
			}
		}
	}
	if answers != 2*len(runs) || stepped != 2*len(runs) || finished != len(runs) {
		t.Errorf("%d runs have %d answers, %d steps and %d ends", len(runs), answers, stepped, finished)
	}
	return parked
}

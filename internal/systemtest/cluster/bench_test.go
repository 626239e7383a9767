package cluster_test

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

// An answer on one replica lets the run go on at another, which holds it, and the next question appears in
// the stream of a third. The database has a synchronous standby.
func BenchmarkAnswerElsewhere(b *testing.B) {
	c := startCluster(b, cluster.Options{Postgres: cluster.PostgresOptions{Fsync: true, Standby: true}})
	var at []client
	for _, r := range c.Replicas {
		at = append(at, client{b, r.Address()})
	}
	var took []time.Duration
	for b.Loop() {
		id := at[0].start("deploy")
		i := at[1].await(id, "the first question", asks("approve"))
		next := at[2].follow(id, `"announce"`)
		began := time.Now()
		at[1].answer(i)
		<-next
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(milliseconds(took[len(took)/2]), "ms-p50")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "ms-p99")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// follow closes the channel when a run's stream has a text.
func (c client) follow(id, text string) <-chan struct{} {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), "GET", "http://"+c.at+"/runs/"+id+"/events", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	found := make(chan struct{})
	go func() {
		defer response.Body.Close()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), text) {
				close(found)
				return
			}
		}
	}()
	return found
}

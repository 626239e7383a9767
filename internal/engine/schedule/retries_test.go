package schedule

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// failingJob returns a job that fails until it has been tried n times, and the times of its tries.
func failingJob(n int) (Job, *[]time.Duration) {
	began, tries := time.Now(), new([]time.Duration)
	return Job{Wait: time.Second, MaxWait: 3 * time.Second, Try: func() error {
		*tries = append(*tries, time.Since(began))
		if len(*tries) < n {
			return errors.New("not yet")
		}
		return nil
	}}, tries
}

func TestRetriesWaitLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Retries
		var failures []int
		j, tries := failingJob(4)
		j.Failed = func(tries int, _ error) { failures = append(failures, tries) }
		r.Add(j)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}
		if len(*tries) != len(want) || len(failures) != 3 {
			t.Fatalf("tried after %v with %v failures, want %v", *tries, failures, want)
		}
		for i := range want {
			if (*tries)[i] != want[i] || i < 3 && failures[i] != i+1 {
				t.Errorf("tried after %v with %v failures, want %v", *tries, failures, want)
			}
		}
	})
}

func TestRetriesThatBeginLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Retries
		j, tries := failingJob(1)
		r.AddLater(j)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*tries) != 1 || (*tries)[0] != time.Second {
			t.Errorf("tried after %v, want 1s", *tries)
		}
	})
}

// Close tries what waits a last time, and what is added or fails afterwards once more.
func TestCloseTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Retries
		waiting, waits := failingJob(100)
		r.Add(waiting)
		synctest.Wait()
		r.Close()
		late, tries := failingJob(100)
		r.Add(late)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(*waits) != 2 || len(*tries) != 2 {
			t.Errorf("the job that waited was tried %d times, and the late one %d times; want 2 and 2", len(*waits), len(*tries))
		}
	})
}

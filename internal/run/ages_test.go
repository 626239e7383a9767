package run

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// The ages are held to what a list of all questions says, while they come and
// go over a year, in the order of their asking and, as when a log is read back,
// in any.
func TestAgesAreThoseOfTheOpenQuestions(t *testing.T) {
	bounds := []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var a ages
		var open []time.Time
		for step := range 60_000 {
			time.Sleep(time.Duration(r.Int64N(int64(20 * time.Minute))))
			since := time.Now()
			if step%10 == 0 {
				since = since.Add(-time.Duration(r.Int64N(int64(30 * 24 * time.Hour))))
			}
			open = append(open, since)
			a.asked(since)
			if r.IntN(3) == 0 {
				i := r.IntN(len(open))
				a.settled(open[i])
				open[i] = open[len(open)-1]
				open = open[:len(open)-1]
			}
			if step%5_000 == 0 {
				heldTo(t, &a, open, bounds)
			}
		}
		if len(a.slots) > maxSlots {
			t.Errorf("%d slots for %d questions", len(a.slots), len(open))
		}
		for _, since := range open {
			a.settled(since)
		}
		if left, oldest := a.tell(bounds); len(a.slots) != 0 || oldest != 0 || sum(left) != 0 {
			t.Errorf("nothing is open, and %v are told, the oldest %s", left, oldest)
		}
	})
}

// heldTo compares what is told with what is: the numbers older than each bound
// lie between those that are older than a little more and a little less.
func heldTo(t *testing.T, a *ages, open []time.Time, bounds []time.Duration) {
	t.Helper()
	told, oldest := a.tell(bounds)
	if sum(told) != len(open) {
		t.Fatalf("%d are open, and %v are told", len(open), told)
	}
	older := func(than time.Duration) (n int) {
		for _, since := range open {
			if time.Since(since) >= than {
				n++
			}
		}
		return n
	}
	for i, bound := range bounds {
		slack := bound/32 + time.Second
		least, most := older(bound+slack), older(bound-slack)
		if n := sum(told[i+1:]); n < least || n > most {
			t.Errorf("%d are told to be older than %s; it is between %d and %d", n, bound, least, most)
		}
	}
	if older(oldest-oldest/32-time.Second) == 0 || older(oldest+oldest/32+time.Second) != 0 {
		t.Errorf("the oldest is told to be %s old", oldest)
	}
}

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

// A question in every second for a month, none of them ever answered.
func TestAgesTakeNoMoreRoomTheMoreAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a ages
		for range 30 * 24 * 3600 {
			a.asked(time.Now())
			time.Sleep(time.Second)
		}
		if len(a.slots) > maxSlots {
			t.Errorf("%d slots", len(a.slots))
		}
		a.merge(time.Now().Unix())
		if len(a.slots) > maxSlots/2 {
			t.Errorf("%d slots are left when they are merged", len(a.slots))
		}
	})
}

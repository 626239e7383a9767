package runstate

import (
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// State is the state of a run.
type State string

// The states of a run. Except in the first four, the run has ended. A run that hasn't started
// has none.
const (
	Running     State = "running"
	Waiting     State = "waiting"  // for an answer
	Sleeping    State = "sleeping" // until a time
	Parked      State = "parked"   // until a program comes that fits it
	Completed   State = State(runlog.Completed)
	Unanswered  State = State(runlog.Unanswered)
	Failed      State = State(runlog.Failed)
	Stopped     State = State(runlog.Stopped)
	Interrupted State = State(runlog.Interrupted)
)

// States lists the states, in the order in which pages list them.
var States = [...]State{Running, Waiting, Sleeping, Parked, Completed, Unanswered, Failed, Stopped, Interrupted}

// Ended reports whether a run in state s has ended.
func (s State) Ended() bool {
	return s != Running && s != Waiting && s != Sleeping && s != Parked
}

// Transitions are the changes of state that entries of a kind can make. Entries of other
// kinds change no state.
var Transitions = []struct {
	Kind     runlog.Kind
	From, To []State
}{
	{runlog.KindStarted, []State{""}, []State{Running}},
	{runlog.KindAsked, []State{Running, Sleeping}, []State{Waiting}},
	{runlog.KindAnswered, []State{Waiting}, []State{Running, Sleeping}},
	{runlog.KindWithdrawn, []State{Waiting}, []State{Running, Sleeping}},
	{runlog.KindSleeping, []State{Running}, []State{Sleeping}},
	{runlog.KindWoken, []State{Sleeping}, []State{Running}},
	{runlog.KindParked, []State{Running, Waiting, Sleeping}, []State{Parked}},
	{runlog.KindClaimed, []State{Parked}, []State{Running, Waiting, Sleeping}},
	{runlog.KindFinished, []State{Running, Waiting, Sleeping, Parked}, []State{Completed, Unanswered, Failed, Stopped, Interrupted}},
}

// isPossible reports whether Transitions has a change of state.
func isPossible(kind runlog.Kind, from, to State) bool {
	for _, t := range Transitions {
		if t.Kind == kind && slices.Contains(t.From, from) && slices.Contains(t.To, to) {
			return true
		}
	}
	return from == to && from != "" && kind != runlog.KindStarted && kind != runlog.KindFinished && !from.Ended()
}

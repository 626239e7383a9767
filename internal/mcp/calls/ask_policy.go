package calls

import "time"

// AskPolicy determines what happens to a question that the client can't be asked or
// does not answer.
type AskPolicy struct {
	// Link sends the client the address of the question's page, where somebody may
	// answer it, and the call waits. Without Link, a question that the client can't be
	// asked is withdrawn.
	Link bool
	// Handoff is how long a call whose client was asked, or a call of [ResumeTool], waits
	// before it is handed off: it ends with a result that holds the address and a handle,
	// with which [ResumeTool] resumes the run. A call that waits only for what its client
	// can't be asked is handed off after a second, if that is sooner. 0 means that calls
	// wait forever. Handoff has no effect without Link.
	Handoff time.Duration
	// KeepAlive is the interval at which a waiting call with a progress token sends
	// progress, for clients that then restart their timeout; 0 sends none.
	KeepAlive time.Duration
}

// linkHandoff is how long a call waits for answers that its client can't be asked for
// before it ends: long enough for further questions that the photon asks at once.
const linkHandoff = time.Second

// DefaultAskPolicy returns the policy that sends links and hands calls off.
func DefaultAskPolicy() AskPolicy {
	return AskPolicy{Link: true, Handoff: 45 * time.Second, KeepAlive: 15 * time.Second}
}

// Instructions tell a client's model what to do with questions that the client can't
// show.
func (a AskPolicy) Instructions() string {
	switch {
	case !a.Link:
		return "If a tool fails because it could not ask the user, its error names the capability that the client is missing."
	case a.Handoff == 0:
		return "If the client can't show a question, the call's progress and log give an address: the user answers there."
	}
	return "A tool may return before it is done and say that it is waiting for an answer: give the user the address in its result, " +
		"and call " + ResumeTool + " with the handle in it when the user says that they have answered, not before. " +
		"Do not call the tool itself again for that."
}

// AllowsHandoff reports whether calls may end before their runs do.
func (a AskPolicy) AllowsHandoff() bool { return a.Link && a.Handoff > 0 }

// handoff returns how long calls wait before they are handed off; 0 is forever.
func (a AskPolicy) handoff() time.Duration {
	if !a.AllowsHandoff() {
		return 0
	}
	return a.Handoff
}

// linkDelay is how long a client may leave a question unanswered before it is sent the
// address of the question's page.
func (a AskPolicy) linkDelay() time.Duration {
	const most = 20 * time.Second
	if a.Handoff > 0 {
		return min(a.Handoff/2, most)
	}
	return most
}

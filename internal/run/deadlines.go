package run

import "time"

// awaitDeadline has a question expire when its deadline has passed, if it has
// one. When many do at once, few are withdrawn at a time. Callers hold the run's
// mu.
func (a *openAsk) awaitDeadline() {
	switch {
	case a.due.IsZero():
	case a.timer == nil:
		expiring := &a.run.engine.expiring
		a.timer = time.AfterFunc(time.Until(a.due), func() { expiring.add(func() { a.run.expire(a) }) })
	default:
		a.timer.Reset(time.Until(a.due))
	}
}

// stopDeadline lets a question's deadline pass without effect. Callers hold the
// run's mu.
func (a *openAsk) stopDeadline() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// awaitDeadlines has the questions of runs expire that were read from the log.
func awaitDeadlines(runs []*record) {
	for _, r := range runs {
		r.mu.Lock()
		for _, a := range r.asks {
			a.awaitDeadline()
		}
		r.mu.Unlock()
	}
}

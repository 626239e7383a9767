package sampling

// Settle waits until no call is in progress and no standing approval is being used.
func (s *Service) Settle() { s.calls.Wait() }

// HandleQuestion tries the standing approvals for a question, and waits until that is done.
func (s *Service) HandleQuestion(askID string) {
	s.handleQuestion(askID)
	s.Settle()
}

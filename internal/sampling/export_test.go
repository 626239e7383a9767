package sampling

// Settle waits until no call is in progress and no standing approval is being used.
func (s *Service) Settle() { s.calls.Wait() }

package blob

// VerifyFirst sets the size of the largest blob that is verified before it is read.
func (s *Store) VerifyFirst(size int64) { s.verifiedFirst = size }

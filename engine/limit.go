package engine

// unknownHolders is how many goroutines, or batches, a limit of memory is shared by where nobody says.
const unknownHolders = 16

// forgets reports whether the store has a limit of memory, under which it may drop the rules of a pack at any time.
func (s *Store) forgets() bool { return s.pack != nil && s.pack.sites == nil }

// share returns how many bytes of rules each of so many goroutines, or batches, may keep beside the cache of a pack under a
// limit of memory: an eighth of the limit is for goroutines, and one for batches. It is 0 if there is no limit.
func (s *Store) share(holders int) int64 {
	if s.pack == nil {
		return 0
	}
	return s.pack.limit / 8 / int64(holders)
}

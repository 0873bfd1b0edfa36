package aggregate

import "slices"

// Examples is how many URLs a Top keeps.
const Examples = 3

// maxExample is the most bytes of an example; the rest is cut.
const maxExample = 512

// An Example is a URL, its requests, and the data of its first request.
type Example[T any] struct {
	URL      string
	Requests int64
	Cut      bool // URL is the beginning of a longer one
	With     T

	hash uint64
}

// A Top keeps the most requested URLs of a group. Of those with equally many requests it keeps the
// shortest, and of these the first in the order of bytes. While a [URLs] has all in memory, the examples depend on the
// requests only, not on their order; beyond that they are those with the most requests between two writes to disk. The
// zero value is empty.
type Top[T any] struct{ all []Example[T] }

// Offer tells of a request: the URL, its Hash, and the result of [URLs.Add] for it. with is asked for
// a URL that becomes an example.
func (t *Top[T]) Offer(url []byte, hash uint64, requests uint32, with func() T) {
	for i := range t.all {
		if t.all[i].hash == hash {
			t.all[i].Requests = max(t.all[i].Requests, int64(requests))
			t.rise(i)
			return
		}
	}
	short := url[:min(len(url), maxExample)]
	if n := len(t.all); n == Examples {
		if last := &t.all[n-1]; !last.isBehind(int64(requests), short) {
			return
		}
		t.all = t.all[:n-1]
	}
	t.all = append(t.all, Example[T]{URL: string(short), Requests: int64(requests), Cut: len(short) < len(url), With: with(), hash: hash})
	t.rise(len(t.all) - 1)
}

// rise puts an example before those that are requested less.
func (t *Top[T]) rise(i int) {
	for ; i > 0 && t.all[i-1].isBehind(t.all[i].Requests, []byte(t.all[i].URL)); i-- {
		t.all[i], t.all[i-1] = t.all[i-1], t.all[i]
	}
}

// isBehind reports whether a URL with so many requests comes before the example.
func (e *Example[T]) isBehind(requests int64, url []byte) bool {
	switch {
	case requests != e.Requests:
		return requests > e.Requests
	case len(url) != len(e.URL):
		return len(url) < len(e.URL)
	}
	return string(url) < e.URL
}

// addKeys adds the keys of the examples in a group, without requests.
func (t *Top[T]) addKeys(to map[PairKey]int64, g Group) {
	for i := range t.all {
		to[KeyOf(g, t.all[i].hash)] = 0
	}
}

// setRequests sets the requests of the examples in a group, as [URLs.Finish] found them.
func (t *Top[T]) setRequests(from map[PairKey]int64, g Group) {
	for i := range t.all {
		t.all[i].Requests = from[KeyOf(g, t.all[i].hash)]
		t.rise(i)
	}
}

// Examples returns the most requested URLs, the most requested first.
func (t *Top[T]) Examples() []Example[T] { return slices.Clone(t.all) }

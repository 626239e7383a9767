package generators

import "strconv"

// keys makes the keys of a run's calls unique. Most runs that wait have made
// one call, and need no map for it.
type keys struct {
	first string
	taken bool           // first is
	count map[string]int // nil until there is a second
}

// unique returns the key, with a suffix if it is taken: #2, #3 and so on.
func (k *keys) unique(key string) string {
	if !k.taken {
		k.first, k.taken = key, true
		return key
	}
	if k.count == nil {
		k.count = map[string]int{k.first: 1}
	}
	free := key
	for n := k.count[key] + 1; k.count[free] > 0; n++ {
		free = key + "#" + strconv.Itoa(n)
		k.count[key] = n
	}
	k.count[free]++
	return free
}

package generators

import "strconv"

// uniqueKeys makes the keys of a run's calls unique.
type uniqueKeys struct{ count map[string]int }

// reserve keeps a key from being returned by unique.
func (k *uniqueKeys) reserve(key string) {
	if k.count == nil {
		k.count = map[string]int{}
	}
	k.count[key]++
}

// unique returns the key, with a suffix if it was used before: #2, #3 and so on.
func (k *uniqueKeys) unique(key string) string {
	if k.count == nil {
		k.count = map[string]int{}
	}
	free := key
	for n := k.count[key] + 1; k.count[free] > 0; n++ {
		free = key + "#" + strconv.Itoa(n)
		k.count[key] = n
	}
	k.count[free]++
	return free
}

package generators

import "strconv"

// keys makes the keys of a run's calls unique.
type keys struct{ count map[string]int }

// unique returns the key, with a suffix if it is taken: #2, #3 and so on.
func (k *keys) unique(key string) string {
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

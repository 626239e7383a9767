package run

// fewRuns is how many generators may live here until memory counts for more
// than time.
const fewRuns = 64

// spread gives a goroutine at once the stack that recording and telling an ask
// take, where it is still short. Growing step by step, deep down, is a tenth of
// what an ask costs; but a run that waits would then hold four times as much.
//
//go:noinline
func spread() {
	var room [12 << 10]byte
	touch(&room)
}

//go:noinline
func touch(room *[12 << 10]byte) { room[0] = 1 }

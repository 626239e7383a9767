package runlog

// A Visitor does something for each kind of entry. A new kind is a new method, so the
// compiler names each visitor that lacks it.
type Visitor interface {
	Started(Entry, Started) error
	Queued(Entry, Queued) error
	Claimed(Entry, Claimed) error
	Asked(Entry, Asked) error
	Answered(Entry, Answered) error
	Stepped(Entry, Stepped) error
	Withdrawn(Entry, Withdrawn) error
	Sleeping(Entry, Sleeping) error
	Woken(Entry, Woken) error
	Repeated(Entry, Repeated) error
	Parked(Entry, Parked) error
	Adopted(Entry, Adopted) error
	Sampling(Entry, Sampling) error
	Finished(Entry, Finished) error

	// Event is called for each event that the generator yielded, and for entries of
	// kinds that this version doesn't know.
	Event(Entry) error
}

// Rest is a visitor that calls the function for every kind of entry, and for events. A visitor
// that treats only some kinds apart embeds it: what a new kind means to it is in the function.
type Rest func(Entry) error

var _ Visitor = Rest(nil)

func (f Rest) Started(e Entry, _ Started) error     { return f(e) }
func (f Rest) Queued(e Entry, _ Queued) error       { return f(e) }
func (f Rest) Claimed(e Entry, _ Claimed) error     { return f(e) }
func (f Rest) Asked(e Entry, _ Asked) error         { return f(e) }
func (f Rest) Answered(e Entry, _ Answered) error   { return f(e) }
func (f Rest) Stepped(e Entry, _ Stepped) error     { return f(e) }
func (f Rest) Withdrawn(e Entry, _ Withdrawn) error { return f(e) }
func (f Rest) Sleeping(e Entry, _ Sleeping) error   { return f(e) }
func (f Rest) Woken(e Entry, _ Woken) error         { return f(e) }
func (f Rest) Repeated(e Entry, _ Repeated) error   { return f(e) }
func (f Rest) Parked(e Entry, _ Parked) error       { return f(e) }
func (f Rest) Adopted(e Entry, _ Adopted) error     { return f(e) }
func (f Rest) Sampling(e Entry, _ Sampling) error   { return f(e) }
func (f Rest) Finished(e Entry, _ Finished) error   { return f(e) }
func (f Rest) Event(e Entry) error                  { return f(e) }

// Visit decodes the entry and calls the visitor's method for its kind. The error is that of
// decoding or the method's.
func (e Entry) Visit(v Visitor) error {
	if visit, ok := visits[e.Kind]; ok {
		return visit(v, e)
	}
	return v.Event(e)
}

// kinds has the kinds of entries that aren't events, in the order in which EntryKinds returns
// them, and how each is visited.
var kinds = []struct {
	kind  Kind
	visit func(Visitor, Entry) error
}{
	{KindStarted, visitData(Visitor.Started)},
	{KindQueued, visitData(Visitor.Queued)},
	{KindClaimed, visitData(Visitor.Claimed)},
	{KindAsked, visitData(Visitor.Asked)},
	{KindAnswered, visitData(Visitor.Answered)},
	{KindStepped, visitData(Visitor.Stepped)},
	{KindWithdrawn, visitData(Visitor.Withdrawn)},
	{KindSleeping, visitData(Visitor.Sleeping)},
	{KindWoken, visitData(Visitor.Woken)},
	{KindRepeated, visitData(Visitor.Repeated)},
	{KindParked, visitData(Visitor.Parked)},
	{KindAdopted, visitData(Visitor.Adopted)},
	{KindSampling, visitData(Visitor.Sampling)},
	{KindFinished, visitData(Visitor.Finished)},
}

// visits has the functions of kinds by their kind.
var visits = func() map[Kind]func(Visitor, Entry) error {
	all := make(map[Kind]func(Visitor, Entry) error)
	for _, k := range kinds {
		all[k.kind] = k.visit
	}
	return all
}()

// visitData returns a function that decodes an entry's data and calls a visitor's method.
func visitData[T any](method func(Visitor, Entry, T) error) func(Visitor, Entry) error {
	return func(v Visitor, e Entry) error {
		data, err := Decode[T](e)
		if err != nil {
			return err
		}
		return method(v, e, data)
	}
}

// EntryKinds returns the kinds of entries that aren't events.
func EntryKinds() []Kind {
	var all []Kind
	for _, k := range kinds {
		all = append(all, k.kind)
	}
	return all
}

// IsEvent reports whether k is a kind of event that a generator yields to be shown: status,
// progress, log, chunk, toast or artifact. It is true for kinds that this version doesn't
// know, too.
func (k Kind) IsEvent() bool {
	_, ok := visits[k]
	return !ok
}

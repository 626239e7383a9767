package wire

// A Source is where a list of messages comes from.
type Source string

// The sources.
const (
	Wire Source = "wire" // they were recorded as they went
	Log  Source = "log"  // they are derived from the log
)

// A Page is a page of messages.
type Page struct {
	Filter
	Source Source
	// Recorded is the number of messages that were recorded, Dropped how many earlier ones
	// were but are not kept, and HasClient reports whether some were a client's.
	Recorded, Dropped int
	HasClient         bool
	Methods           []string // that the messages may have
	// After and Before are ordinals: the page has messages of greater and of smaller ones, the last of
	// them if Before is set, and otherwise the first.
	After, Before uint64
	Limit         int

	Messages []Message
	// Earlier and Later count the messages that match and precede or follow the page's.
	Earlier, Later int
}

// Add adds the next message of a run, unless it belongs to another page.
func (p *Page) Add(m Message) {
	switch {
	case !p.Matches(&m):
	case m.Seq <= p.After:
		p.Earlier++
	case p.Before > 0 && m.Seq >= p.Before, p.Before == 0 && len(p.Messages) == p.Limit:
		p.Later++
	case len(p.Messages) == p.Limit:
		copy(p.Messages, p.Messages[1:])
		p.Messages[p.Limit-1] = m
		p.Earlier++
	default:
		p.Messages = append(p.Messages, m)
	}
}

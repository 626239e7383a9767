package store

import "slices"

// An askRow is the row of an open question, without the run's number.
type askRow struct {
	owner       string
	asked, seq  int64
	restricted  int64 // 1 if it names who may answer
	modelCalled int64 // 1 if a model has been called for it
}

// An audienceRow is a row for somebody whom an open question names, likewise.
type audienceRow struct {
	who        string
	asked, seq int64
}

// writeAsks writes the rows of open questions that have changed. Either of before and now may be
// nil.
func (g *group) writeAsks(run int64, before, now *savedRun) error {
	if before == nil {
		before = &savedRun{}
	}
	if now == nil {
		now = &savedRun{}
	}
	err := eachMissing(before.asks, now.asks, func(a askRow) error {
		_, err := g.exec("DELETE FROM asks WHERE owner = $1 AND asked = $2 AND run = $3 AND seq = $4", a.owner, a.asked, run, a.seq)
		return err
	})
	if err == nil {
		err = eachMissing(before.audience, now.audience, func(a audienceRow) error {
			_, err := g.exec("DELETE FROM audience WHERE who = $1 AND asked = $2 AND run = $3 AND seq = $4", a.who, a.asked, run, a.seq)
			return err
		})
	}
	if err == nil {
		err = eachMissing(now.asks, before.asks, func(a askRow) error {
			_, err := g.exec("INSERT INTO asks (owner, asked, run, seq, restricted, called) VALUES ($1, $2, $3, $4, $5, $6)", a.owner, a.asked, run, a.seq, a.restricted, a.modelCalled)
			return err
		})
	}
	if err == nil {
		err = eachMissing(now.audience, before.audience, func(a audienceRow) error {
			_, err := g.exec("INSERT INTO audience (who, asked, run, seq) VALUES ($1, $2, $3, $4)", a.who, a.asked, run, a.seq)
			return err
		})
	}
	return err
}

// eachMissing calls do for each row that is in some, and not in others. Most rows are in the same
// place there.
func eachMissing[T comparable](some, others []T, do func(T) error) error {
	for i, row := range some {
		if i < len(others) && others[i] == row || slices.Contains(others, row) {
			continue
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

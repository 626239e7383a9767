package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

var options = &generators.Options{
	Title:       "Migrate the database",
	Description: "Applies the pending SQL migrations to the database. A person sees their SQL and decides whether to apply them.",
	Destructive: true,
	Idempotent:  true,
	Durable:     true,
}

// A migrator applies the migrations in a folder to a database.
type migrator struct {
	name  string // of the database, for people
	db    *database
	files fs.FS
}

// A plan is what there is to do. It is the value of a step, so that what a person
// approves is what is applied, even if the files have changed meanwhile.
type plan struct {
	Applied []string // names of migrations, in order
	Pending []migration
	Tables  generators.Table // each table with its number of rows
}

type migration struct{ Name, SQL string }

func (m *migrator) migrate(_ context.Context, _ struct{}, yield generators.Yield) (generators.MarkdownText, error) {
	p, err := generators.Step(yield, "plan", m.makePlan)
	if err != nil {
		return "", err
	}
	if len(p.Pending) == 0 {
		return generators.MarkdownText(fmt.Sprintf("Nothing to do: all %d migrations have been applied.", len(p.Applied))), nil
	}
	shown := p.sql()
	for _, artifact := range shown {
		yield(artifact)
	}
	if len(p.Tables.Rows) > 0 {
		shown = append(shown, generators.TableOf("Tables before", p.Tables))
	}
	ok, err := ask.Confirm(yield, "apply", fmt.Sprintf("Apply %s to %s?", count(len(p.Pending)), filepath.Base(m.name)),
		ask.Destructive(), ask.Verbs("Apply", "Keep as it is"), ask.Showing(shown...))
	if err != nil {
		return "", err
	}
	if !ok {
		return "Nothing was applied: the answer was no.", nil
	}
	return m.applyAll(yield, p)
}

// applyAll applies the pending migrations, each in a step.
func (m *migrator) applyAll(yield generators.Yield, p plan) (generators.MarkdownText, error) {
	var report strings.Builder
	fmt.Fprintf(&report, "Applied %s to %s:\n\n", count(len(p.Pending)), filepath.Base(m.name))
	for i, next := range p.Pending {
		yield(generators.Progress(float64(i), float64(len(p.Pending)), next.Name))
		before := len(p.Applied) + i
		changed, err := generators.Step(yield, next.Name, func(ctx context.Context) (int64, error) { return m.db.apply(ctx, next, before) })
		if err != nil {
			return "", fmt.Errorf("%s was not applied, nor any after it: %w", next.Name, err)
		}
		fmt.Fprintf(&report, "- `%s` (%d rows changed)\n", next.Name, changed)
	}
	return generators.MarkdownText(report.String()), nil
}

// makePlan reads the files and the database.
func (m *migrator) makePlan(ctx context.Context) (p plan, err error) {
	if p.Applied, err = m.db.applied(ctx); err != nil {
		return p, err
	}
	names, err := fs.Glob(m.files, "*.sql") // sorted
	if err != nil {
		return p, err
	}
	for i, name := range names {
		if i < len(p.Applied) {
			if name != p.Applied[i] {
				return p, fmt.Errorf("migration %d of the database is %s, but that of the files is %s", i+1, p.Applied[i], name)
			}
			continue
		}
		text, err := fs.ReadFile(m.files, name)
		if err != nil {
			return p, err
		}
		p.Pending = append(p.Pending, migration{name, string(text)})
	}
	p.Tables, err = m.db.tables(ctx)
	return p, err
}

// sql returns the pending migrations for people to see.
func (p plan) sql() []generators.Event {
	var shown []generators.Event
	for _, m := range p.Pending {
		shown = append(shown, generators.Code(m.Name, "sql", m.SQL))
	}
	return shown
}

func count(n int) string {
	if n == 1 {
		return "1 migration"
	}
	return fmt.Sprintf("%d migrations", n)
}

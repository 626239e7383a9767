package datacmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/postgres"
)

// Bounds of what a database needs.
const (
	minPostgres        = 14_00_00
	maxClockDifference = time.Second
)

// checkStore tries what Beam needs of a database, which it doesn't change.
func (c *Doctor) checkStore(ctx context.Context) (findings []finding) {
	if c.Store == "" {
		return nil
	}
	if c.SecretsKeyFile != "" {
		findings = append(findings, ok("key", datafolder.CheckSecretsKey(c.SecretsKeyFile), c.SecretsKeyFile+" has a key", "Give all replicas the same file with 32 random bytes."))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p, err := postgres.NewProbe(ctx, c.Store)
	if err != nil {
		mend := "Check the URL, the server, its pg_hba.conf, and firewalls."
		if errors.Is(err, postgres.ErrParameters) {
			mend = "Let PgBouncer have ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout."
		}
		return append(findings, finding{"database", findingProblem, cleantext.Line(err.Error()), mend})
	}
	defer p.Close()
	for _, check := range []func(context.Context, *postgres.Probe) []finding{
		checkTransport, checkServer, checkTables, checkSessions, checkPrepared, checkClock, checkDurability, checkConnections,
	} {
		findings = append(findings, check(ctx, p)...)
	}
	return findings
}

// ok returns that all is well if err is nil, and otherwise how to mend that it isn't.
func ok(check string, err error, text, mend string) finding {
	if err != nil {
		return finding{check, findingProblem, cleantext.Line(err.Error()), mend}
	}
	return finding{check, findingOK, cleantext.Line(text), ""}
}

func checkTransport(_ context.Context, p *postgres.Probe) []finding {
	t, err := p.Transport()
	text := cmp.Or(t.TLS, "no TLS")
	switch {
	case err == nil && t.MayBePlain:
		return []finding{{"database", findingNote, "connected (" + text + "); others can read or change what goes to another machine", "Put sslmode=verify-full in the URL, with sslrootcert if its authority isn't a public one."}}
	case err == nil && t.TLS != "" && !t.Verified:
		return []finding{{"database", findingNote, "connected (" + text + "); the server's certificate is not verified", "Put sslmode=verify-full in the URL, with sslrootcert if its authority isn't a public one."}}
	}
	return []finding{ok("database", err, "connected ("+text+")", "Check the network.")}
}

func checkServer(ctx context.Context, p *postgres.Probe) []finding {
	number, version, err := p.Version(ctx)
	if err == nil && number < minPostgres {
		err = fmt.Errorf("PostgreSQL %s is too old", version)
	}
	standby, readOnly, writeErr := p.ReadOnly(ctx)
	switch {
	case writeErr != nil:
	case standby:
		writeErr = errors.New("the server is a standby")
	case readOnly:
		writeErr = errors.New("transactions can't write")
	}
	return []finding{
		ok("server", err, "PostgreSQL "+version, "Use version 14 or later."),
		ok("writes", writeErr, "it is writable", "Name the primary; or all servers, with target_session_attrs=read-write. If default_transaction_read_only is set for the role, unset it."),
	}
}

func checkTables(ctx context.Context, p *postgres.Probe) []finding {
	format, tables, transactions := store.Rehearse(ctx, p)
	text := fmt.Sprintf("Beam's, in format %d", format)
	switch {
	case errors.Is(tables, store.ErrNewerFormat):
		return []finding{{"tables", findingProblem, tables.Error(), "Use the version that the replicas have."}}
	case tables != nil:
		return []finding{ok("tables", tables, "", "Let the role of the URL own the database or a schema, which search_path names, or grant it ALL on the tables there.")}
	case format == 0:
		text = "there are none yet; the first start makes them"
	case format < store.Format:
		return []finding{{"tables", findingNote, fmt.Sprintf("they have format %d, and the next start makes it %d", format, store.Format), "Back it up before. The role of the URL must own the tables."}}
	}
	return []finding{
		{"tables", findingOK, text, ""},
		ok("conflict", transactions, "conflicts are noticed", "Use PostgreSQL itself: this server lacks what Beam relies on."),
	}
}

func checkSessions(ctx context.Context, p *postgres.Probe) []finding {
	locks, notices := p.Sessions(ctx)
	findings := []finding{{"locks", findingOK, "sessions hold locks that others see", ""}, {"notices", findingOK, "they arrive", ""}}
	const mend = "Connect directly, or through a pooler of sessions."
	if locks != nil {
		findings[0] = finding{"locks", findingNote, cleantext.Line(locks.Error()) + ": Beam works, but others continue the runs of a killed replica only when its lease has expired", mend}
	}
	if notices != nil {
		findings[1] = finding{"notices", findingNote, cleantext.Line(notices.Error()) + ": Beam works, but what other replicas change is noticed up to a second later", mend}
	}
	return findings
}

func checkPrepared(ctx context.Context, p *postgres.Probe) []finding {
	return []finding{ok("prepared", p.Prepared(ctx), "prepared statements survive between transactions", "Set max_prepared_statements of PgBouncer (1.21 or later), or connect directly.")}
}

func checkClock(ctx context.Context, p *postgres.Probe) []finding {
	d, err := p.ClockDifference(ctx)
	if err == nil && d.Abs() > maxClockDifference {
		return []finding{{"clock", findingNote, fmt.Sprintf("the database's clock and this machine's differ by %v", d.Abs().Round(time.Millisecond)), "Let both machines synchronize their clocks (NTP): times in runs and deadlines are those of replicas."}}
	}
	return []finding{ok("clock", err, "the database's clock and this machine's agree", "")}
}

func checkDurability(ctx context.Context, p *postgres.Probe) []finding {
	commit, standbys, err := p.Durability(ctx)
	text := "synchronous_commit is " + commit + "; "
	if standbys == "" {
		text += "no standby is synchronous, so that a failover may lose the last commits"
	} else {
		text += "synchronous standbys: " + standbys
	}
	if err == nil && commit == "off" {
		return []finding{{"commits", findingNote, text + "; so may a crash of the server", "Set synchronous_commit to on for the role."}}
	}
	return []finding{ok("commits", err, text, "")}
}

func checkConnections(ctx context.Context, p *postgres.Probe) []finding {
	free, err := p.Connections(ctx)
	if err == nil && free < store.Connections {
		err = fmt.Errorf("%d more are allowed, and a replica needs %d", free, store.Connections)
	}
	return []finding{ok("capacity", err, fmt.Sprintf("%d more are allowed, and a replica needs %d: enough for %d more", free, store.Connections, free/store.Connections), "Raise max_connections, or the limit of the role or the database.")}
}

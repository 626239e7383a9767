package sqlite

import (
	"database/sql"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestTransactionsLargerThanTheCache checks that all of a committed transaction is in the files,
// and nothing of one that is rolled back, though their pages were written, read again and
// changed again in the course of them.
func TestTransactionsLargerThanTheCache(t *testing.T) {
	open := func(file string) *sql.DB {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		db, err := OpenFile(file, 1, "cache_size=5", "journal_mode=wal")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	read := func(db *sql.DB) map[int]int {
		rows, err := db.Query("SELECT k, v FROM pairs")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		got := make(map[int]int)
		for rows.Next() {
			var k, v int
			if err := rows.Scan(&k, &v); err != nil {
				t.Fatal(err)
			}
			got[k] = v
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return got
	}
	dir := t.TempDir()
	writer, reader := open(filepath.Join(dir, "db")), open(filepath.Join(dir, "db"))
	if _, err := writer.Exec("CREATE TABLE pairs (k INTEGER PRIMARY KEY, v INTEGER, filler BLOB)"); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	want := make(map[int]int)
	for turn := range 40 {
		tx, err := writer.Begin()
		if err != nil {
			t.Fatal(err)
		}
		changed := maps.Clone(want)
		for range []int{1, 5, 200}[r.IntN(3)] {
			k, v := r.IntN(300), r.Int()
			if _, err := tx.Exec("INSERT INTO pairs VALUES ($1, $2, zeroblob(700)) ON CONFLICT (k) DO UPDATE SET v = excluded.v", k, v); err != nil {
				t.Fatal(err)
			}
			changed[k] = v
		}
		if r.IntN(4) == 0 {
			err = tx.Rollback()
		} else {
			err = tx.Commit()
			want = changed
		}
		if err != nil {
			t.Fatal(err)
		}
		if turn%10 == 9 { // the write-ahead log begins anew
			if _, err := reader.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(reader); !maps.Equal(got, want) {
			t.Fatalf("after transaction %d, another connection reads something else", turn)
		}
		killed := t.TempDir() // what kill -9 would leave
		for _, name := range []string{"db", "db-wal"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(killed, name), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		after := open(filepath.Join(killed, "db"))
		if got := read(after); !maps.Equal(got, want) {
			t.Fatalf("after transaction %d, the files have something else", turn)
		}
		var result string
		if err := after.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
			t.Fatalf("after transaction %d, the files have %s, %v", turn, result, err)
		}
		after.Close()
	}
}

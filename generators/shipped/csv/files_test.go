package csv_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/internal/driver"
)

// encode16 encodes a text as UTF-16 with a byte order mark.
func encode16(text string, bigEndian bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
		lo, hi := byte(u), byte(u>>8)
		if bigEndian {
			lo, hi = hi, lo
		}
		b.WriteByte(lo)
		b.WriteByte(hi)
	}
	return b.String()
}

func TestFileFormats(t *testing.T) {
	for name, test := range map[string]struct {
		content, column string
		want            string // the sum
		status          string // part of a status
	}{
		"semicolons, decimal comma": {"a;b\nx;1,5\ny;2,25\n", "b", "b=3.75", "2 columns, separated by semicolons, UTF-8, with decimal commas"},
		"semicolons, grouped":       {"a;b\nx;1.234,50\ny;-1.000\n", "b", "b=234.5", "with decimal commas"},
		"semicolons, decimal point": {"a;b\nx;1.5\ny;2.25\n", "b", "b=3.75", "separated by semicolons, UTF-8"},
		"commas, grouped":           {"a,b\nx,\"1,234.5\"\ny,\"1,000\"\n", "b", "b=2234.5", "separated by commas"},
		"tabs":                      {"a\tb\nLovelace, Ada\t1\nBabbage, Charles\t2\n", "b", "b=3", "separated by tabs"},
		"pipes":                     {"a|b\nx|1\ny|2\n", "b", "b=3", "separated by |"},
		"sep line":                  {"sep=;\r\na,b;c\r\nx;1\r\n", "c", "c=1", "separated by semicolons"},
		"UTF-8 mark":                {"\xef\xbb\xbfb,c\n1,2\n", "b", "b=1", "UTF-8 with a byte order mark"},
		"UTF-16, little-endian":     {encode16("größe;c\n1;2\n", false), "größe", "größe=1", "UTF-16 (little-endian)"},
		"UTF-16, big-endian":        {encode16("größe,c\n1,2\n😀,3\n", true), "größe", "größe=1", "UTF-16 (big-endian)"},
		"Windows-1252":              {"gr\xf6\xdfe;c\n1;2\n", "größe", "größe=1", "Windows-1252"},
		"damaged UTF-8":             {"größe,naïveté\n1,\xff\n", "größe", "größe=1", "are not valid UTF-8"},
		"CR LF":                     {"a,b\r\n1,2\r\n3,4\r\n", "b", "b=6", "2 rows × 2 columns"},
		"CR alone":                  {"a,b\r1,2\r3,4\r", "b", "b=6", "2 rows × 2 columns"},
		"no last line end":          {"a,b\n1,2", "b", "b=2", "1 row × 2 columns"},
		"one column":                {"amount\n1\n2\n", "amount", "amount=3", "one column"},
		"one row":                   {"a,b\n1,2\n", "a", "a=1", "1 row × 2 columns"},
		"quoted line ends":          {"a,b\n\"x\n\ny\",1\n\"z,z\",2\n", "b", "b=3", "2 rows × 2 columns"},
		"bare quotes":               {"a,b\n5\" pipe,1\nthe \"big\" one,2\n", "b", "b=3", "2 rows × 2 columns"},
		"same names":                {"a,a, a \n1,2,3\n", "a (2)", "a (2)=2", "1 row × 3 columns"},
		"a name that is used":       {"a,a (2),a\n1,2,3\n", "a (3)", "a (3)=3", "1 row × 3 columns"},
		"blank names":               {"a,, \u200b\n1,2,3\n", "column 3", "column 3=3", "1 row × 3 columns"},
		"name on two lines":         {"\"unit\nprice\",b\n1,2\n", "unit price", "unit price=1", "1 row × 2 columns"},
		"no names":                  {"1,2\n3,4\n", "column 2", "column 2=6", "The first row has only numbers"},
		"short and long rows":       {"a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3\n", "c", "c=9", "2 of 4 rows don't have 3 cells"},
		"a cell too many in all":    {"a,b\n1,2,\n1,2,\n", "column 3", "column 3=<nil>", "The first row has 2 cells, but most others have 3"},
		"blank rows":                {"a,b\n1,2\n,\n , \n\n", "b", "b=2", "2 blank rows are ignored"},
		"other cells among numbers": {"a\n" + strings.Repeat("1\n", 9) + "n/a\n", "a", "a=9", "1 cell of a isn't a number and is ignored"},
		"no exact fractions":        {"a,b\n0.1,x\n0.2,x\n", "a", "a=0.3", "2 rows"},
		"large and small":           {"a,b\n100000000000000,x\n0.01,x\n-100000000000000,x\n", "a", "a=0.01", "3 rows"},
		"exponents":                 {"a,b\n1e3,x\n2.5E-1,x\n", "a", "a=1000.25", "2 rows"},
		"beyond numbers":            {"a,b\n1e308,x\n1e308,x\n1e999,x\n", "a", "a=<nil>", "3 rows"},
		"names of accounts":         {"a,b\n0012,12345678901234567\n0013,2\n", "a", "a=<nil>", "a has no numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			p := runFile(t, test.content, chooseColumns("sum", "", test.column))
			if got := describeValues(t, p); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if statuses := strings.Join(p.Statuses(), "\n"); !strings.Contains(statuses, test.status) {
				t.Errorf("the statuses are:\n%s\nwant one with: %s", statuses, test.status)
			}
		})
	}
}

func TestRejectedFiles(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"nothing":           {"", "the file is empty. A CSV file is text: a row of column names"},
		"blank lines":       {" \n\n\r\n", "the file is empty"},
		"only a mark":       {"\xef\xbb\xbf", "the file is empty"},
		"only names":        {"name,amount\n", "the file has column names but no rows"},
		"only blank cells":  {",,,\n,,,\n", "the file is empty"},
		"PNG":               {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "this is a PNG image, not a CSV file. A CSV file is"},
		"workbook":          {"PK\x03\x04\x14\x00", "an Excel workbook (.xlsx), not a CSV file. Save the sheet as CSV"},
		"binary":            {"a,b\n\x00\x01\x02,2\n", "binary data"},
		"control bytes":     {strings.Repeat("\x01\x02,\x03\n", 20), "binary data"},
		"UTF-16, no mark":   {encode16("name,amount\nx,1\n", false)[2:], "UTF-16 text without a byte order mark"},
		"UTF-32":            {"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32 text, not a CSV file. Save it as UTF-8"},
		"JSON object":       {"{\n  \"name\": \"Ada\", \"age\": 36\n}\n", "this is JSON, not a CSV file"},
		"JSON list":         {"[{\"a\":1},{\"a\":2}]", "this is JSON, not a CSV file"},
		"JSON lines":        {"{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n", "this is JSON, not a CSV file"},
		"JSON numbers":      {"[1, 2, 3]\n", "this is JSON, not a CSV file"},
		"XML":               {"<?xml version=\"1.0\"?>\n<a/>", "XML or HTML"},
		"HTML":              {"<!DOCTYPE html>\n<html></html>", "XML or HTML"},
		"prose":             {"It was a dark and stormy night.\nThe rain fell in torrents, except at intervals.\nThen it stopped.\n", "plain text"},
		"prose in one line": {strings.Repeat("Lorem ipsum dolor sit amet, consectetur adipiscing elit. ", 20), "plain text"},
		"letter":            {"Dear Sir, thank you for the letter.\nI shall come, as you have said.\n", "plain text"},
		"log":               {"starting the server on port eight\nlistening for connections from anywhere now\n", "plain text"},
		"endless line":      {"a,b\n1,2\n3," + strings.Repeat("4", 2<<20) + "\n", "the record on line 3 has no end within 1 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			p := runFile(t, test.content, beamtest.Response{})
			again := p.Questions["file#2"]
			if again == nil || !errors.Is(p.Err, ask.ErrDeclined) {
				t.Fatalf("the file wasn't asked for again: %s, %v", p.Result, p.Err)
			}
			if got := again.Message; !strings.HasPrefix(got, "data.csv: ") || !strings.Contains(got, test.want) || !strings.HasSuffix(got, "\n\nWhich CSV file do you want to explore?") {
				t.Errorf("the question is %q, want one with the file's name and %q", got, test.want)
			}
		})
	}
}

// Files that resemble another format are accepted.
func TestAcceptedFiles(t *testing.T) {
	for name, content := range map[string]string{
		"reviews":        "id,review\n1,I have never seen a film as bad as this one.\n2,Well worth the money that I paid for it!\n",
		"quoted reviews": "review,by\n\"Bad, very bad, and I have seen a lot.\",Ada\n\"Good, quite good, as these things go.\",Bob\n",
		"list of names":  "full name\nAda Lovelace\nCharles Babbage\nMary Fairfax Somerville\n",
		"ragged":         "a,b,c,d\n1,2\n1,2,3,4\n1\n1,2,3,4\n1,2,3\n",
		"brackets":       "[id],[name]\n1,x\n",
		"less than":      "<5,>5\n3,7\n",
	} {
		p := runFile(t, content, beamtest.Decline())
		if _, asked := p.Questions["view"]; !asked {
			t.Errorf("%s: got %v", name, p.Err)
		}
	}
}

// The first non-ASCII character may come long after the sample.
func TestCharsetFallback(t *testing.T) {
	plain := strings.Repeat("plain,1\n", 100_000)
	for late, want := range map[string]string{"M\xfcller": "Müller", "Müller": "Müller", "\xef\xbb\xbfx": "\ufeffx"} {
		p := runFile(t, "name,n\n"+plain+late+",2\n", chooseColumns("sum", "name", "n"))
		if got := describeValues(t, p); got != want+"/n=2 plain/n=100000" && got != "plain/n=100000 "+want+"/n=2" {
			t.Errorf("%q: got %s", late, got)
		}
	}
}

func TestManyGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("who,n\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "w%04d,1\n", i%1500)
	}
	b.WriteString(strings.Repeat("long", 100) + ",1\n")
	p := runFile(t, b.String(), chooseColumns("sum", "who", "n"))
	rows := tables(t, p)["Sum of n by who"].Rows
	if last := rows[len(rows)-1]; len(rows) != 1001 || last[0] != "(other)" || last[1] != 1001. {
		t.Errorf("%d groups, the last is %v", len(rows), last)
	}
	if v := beamtest.Decode[csv.Exploration](t, p).Views[0]; v.Groups != 1001 || v.Value != 3001. || v.LargestGroup != "(other)" || *v.LargestValue != 1001 || *v.SmallestValue != 2 {
		t.Errorf("the result has %+v", v)
	}
	if statuses := strings.Join(p.Statuses(), "\n"); !strings.Contains(statuses, `1,001 rows in the group "(other)"`) {
		t.Errorf("the statuses are %s", statuses)
	}
	if chart := charts(t, p)["Sum of n by who (the 50 largest of 1,001 groups)"]; len(chart.Labels) != 50 || chart.Labels[0] != "(other)" {
		t.Errorf("the chart has %d bars, want the 50 largest", len(chart.Labels))
	}
}

func TestManyColumns(t *testing.T) {
	header := strings.Repeat("a,", 5000) + "a\n"
	p := runFile(t, header+strings.Repeat("1,", 5000)+"1\n", chooseColumns("sum", "", "a (500)"))
	if got := describeValues(t, p); got != "a (500)=1" {
		t.Errorf("got %s", got)
	}
	if q := p.Questions["view"]; len(q.Choices("columns")) != 500 {
		t.Errorf("%d columns are offered, want 500", len(q.Choices("columns")))
	}
}

// The question is an entry of the log, and entries are small.
func TestQuestionStaysSmall(t *testing.T) {
	header := strings.Repeat(strings.Repeat("漢字", 100)+",", 1000) + "x\n"
	q := runFile(t, header+"1,2\n", beamtest.Decline()).Questions["view"]
	if raw, err := json.Marshal(q); err != nil || len(raw) > 256<<10 {
		t.Errorf("the question has %d bytes: %v", len(raw), err)
	}
}

func TestUnreadableFile(t *testing.T) {
	broken := errors.New("the disk is gone")
	file := fileReply(10, func() (io.ReadCloser, error) { return nil, broken })
	_, err := runWithReplies(t, file, driver.Reply{Err: ask.ErrDeclined}, func(e generators.Event) {
		if _, ok := e.(*generators.Artifact); ok {
			t.Error("an artifact was yielded for a file that can't be read")
		}
	})
	if err == nil || !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// If a sum is too large to represent, it is missing and a warning says why.
func TestSumOutOfRange(t *testing.T) {
	p := runFile(t, "who,n\na,9e307\na,9e307\na,9e307\nb,1\n", chooseColumns("sum", "who", "n"))
	got := beamtest.Decode[csv.Exploration](t, p)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "is too large to represent, so there is no sum") {
		t.Errorf("warnings are %q, views %+v", got.Warnings, got.Views)
	}
}

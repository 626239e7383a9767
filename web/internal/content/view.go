package content

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/chart"
	"github.com/photon-beam/beam/web/internal/jsonstream"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/table"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxReaders is how many requests may read tables and trees at once. Each reads all of an
// artifact, of up to 64 MiB, and may hold a key for each row.
const maxReaders = 2

// View serves the page that shows content alone: as a page of a table, as a
// tree, or as a run's page shows it.
func (h *Handlers) View(w http.ResponseWriter, r *http.Request, caller generators.Caller, v *content) error {
	if err := v.parseView(r.URL.Query()); err != nil {
		return err
	}
	release, err := h.acquireReader(r.Context())
	if err != nil {
		return err
	}
	defer release()
	if v.separator != 0 {
		return asContentError(v.writeDelimited(w, r, release))
	}
	return asContentError(h.renderView(w, r, caller, v, release))
}

// acquireReader waits for a place to read content. Release may be called more than once.
func (h *Handlers) acquireReader(ctx context.Context) (release func(), err error) {
	select {
	case h.readers <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() { <-h.readers }), nil
}

// parseView reads how content is to be shown. An error says which parameter is wrong and what
// would be right.
func (v *content) parseView(query url.Values) error {
	v.As, v.At, v.Query.Text = query.Get("as"), query.Get("at"), strings.TrimSpace(query.Get("q"))
	switch {
	case v.As != "" && v.As != "table" && v.As != "tree":
		return problem.Errorf(http.StatusBadRequest, "The parameter as must be table or tree, or missing.")
	case v.At != "" && (v.At[0] != '/' || len(v.At) > maxPointer):
		return problem.Errorf(http.StatusBadRequest, "The parameter at must be a JSON Pointer of at most %d bytes, such as /items/0.", maxPointer)
	case len(v.Query.Text) > request.MaxText:
		return problem.Errorf(http.StatusBadRequest, "The parameter q must be at most %d bytes long.", request.MaxText)
	}
	for name, to := range map[string]*int{"page": &v.Query.Page, "from": &v.From, "sort": &v.Query.Sort} {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 && name != "sort" {
				return problem.Errorf(http.StatusBadRequest, "The parameter %s must be a number, such as 2.", name)
			}
			*to = int(n)
		}
	}
	if v.Query.Sort < 0 {
		v.Query.Sort, v.Query.Descending = -v.Query.Sort, true
	}
	switch query.Get("format") {
	case "":
	case "csv":
		v.As, v.separator = "table", ','
	case "tsv":
		v.As, v.separator = "table", '\t'
	default:
		return problem.Errorf(http.StatusBadRequest, "The parameter format must be csv or tsv, or missing.")
	}
	return nil
}

// maxPointer is the longest JSON Pointer of a request, in bytes.
const maxPointer = 2000

// renderView writes a page, or a page of a table as JSON. It releases its place among the
// readers before it writes, since who reads slowly must not keep others from reading.
func (h *Handlers) renderView(w http.ResponseWriter, r *http.Request, caller generators.Caller, v *content, release func()) error {
	if v.As == "" {
		v.As = v.defaultForm()
	}
	switch v.As {
	case "table":
		t, err := v.openTable(r.Context())
		if err != nil {
			return err
		}
		if v.Query.Sort > len(t.Columns) {
			return problem.Errorf(http.StatusBadRequest, "The parameter sort must be the number of a column, from 1 to %d, or that with a minus sign.", len(t.Columns))
		}
		if request.WantsJSON(r) {
			return v.writeJSON(w, r, t, release)
		}
		page, err := t.Read(r.Context(), v.Query, artifacts.MaxColumns)
		if err != nil {
			return err
		}
		v.SetTable(t.Columns, page)
	case "tree":
		if err := v.ReadTree(v.body); err != nil {
			return err
		}
	default:
		body, err := io.ReadAll(io.LimitReader(v.body, artifacts.MaxContent+1))
		if err != nil {
			return err
		}
		v.Artifact.Body = body
	}
	release()
	response.SetDeadline(w)
	return h.Pages.Render(w, r, http.StatusOK, ui.ContentPage(h.Pages.Chrome(r, caller, v.Artifact.Title), v.Content))
}

// defaultForm returns how content is shown if a request doesn't say it.
func (v *content) defaultForm() string {
	media, _, _ := mime.ParseMediaType(v.Artifact.MediaType)
	switch {
	case media == generators.TableType:
		return "table"
	case media == generators.ChartType:
		return ""
	case media == generators.JSONType, strings.HasSuffix(media, "+json"):
		return "tree"
	}
	return ""
}

// maxChart is the size of the largest chart that is shown as a table, in bytes.
const maxChart = 8 << 20

func (v *content) openTable(ctx context.Context) (*table.Table, error) {
	media, _, _ := mime.ParseMediaType(v.Artifact.MediaType)
	switch media {
	case generators.TableType:
		return table.Open(v.body)
	case generators.ChartType:
		body, err := io.ReadAll(io.LimitReader(v.body, maxChart))
		if err != nil {
			return nil, err
		}
		data, ok := chart.ParseTable(body)
		if !ok {
			return nil, table.ErrNotTable
		}
		if body, err = json.Marshal(data); err != nil {
			return nil, err
		}
		return table.Open(bytes.NewReader(body))
	}
	return table.OpenList(ctx, v.body, v.At)
}

// Limits on a page of a table as JSON. Of a response that is being read, all is in memory.
const (
	maxJSONColumns = 1000
	maxJSONPage    = 8 << 20 // bytes
)

func (v *content) writeJSON(w http.ResponseWriter, r *http.Request, t *table.Table, release func()) error {
	columns := t.Columns[:min(len(t.Columns), maxJSONColumns)]
	page, err := t.Read(r.Context(), v.Query, len(columns))
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{
		"columns": columns, "rows": response.NonNil(page.Rows), "page": page.Number, "pages": page.Pages, "matching": page.Matching, "total": page.Total,
	})
	if err != nil {
		return err
	}
	if len(raw) > maxJSONPage {
		return problem.Errorf(http.StatusUnprocessableEntity, "This page of the table has more than %d MiB. Download the content, or the table with format=csv.", maxJSONPage>>20)
	}
	release()
	response.SetDeadline(w)
	return response.JSON(w, http.StatusOK, json.RawMessage(raw))
}

// writeDelimited writes all rows that match. It releases its place among the readers as soon
// as it writes, since who reads slowly must not keep others from reading.
func (v *content) writeDelimited(w http.ResponseWriter, r *http.Request, release func()) error {
	t, err := v.openTable(r.Context())
	if err != nil {
		return err
	}
	name, mediaType := strings.TrimSuffix(downloadName(&v.Artifact), ".json"), "text/csv; charset=utf-8"
	if v.separator == '\t' {
		name, mediaType = name+".tsv", "text/tab-separated-values; charset=utf-8"
	} else {
		name += ".csv"
	}
	out := &firstWrite{ResponseWriter: w, before: func() {
		release()
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		header.Set("Content-Type", mediaType)
		header.Set("Cache-Control", "no-store")
		response.Attachment(w, name)
		response.SetDeadline(w)
	}}
	err = t.WriteDelimited(r.Context(), out, v.Query, v.separator)
	if err != nil && out.before == nil { // the status is sent already
		panic(http.ErrAbortHandler) // so that nobody takes the part for the whole
	}
	return err
}

// A firstWrite is a response that calls a function before its first bytes.
type firstWrite struct {
	http.ResponseWriter
	before func()
}

func (f *firstWrite) Write(p []byte) (int, error) {
	if f.before != nil {
		f.before()
		f.before = nil
	}
	return f.ResponseWriter.Write(p)
}

// asContentError explains why content can't be shown as asked for.
func asContentError(err error) error {
	switch {
	case errors.Is(err, table.ErrNotTable):
		return problem.Errorf(http.StatusNotFound, "There is no table here. Download the content, or show it as a tree.")
	case errors.Is(err, jsonstream.ErrNotFound):
		return problem.Errorf(http.StatusNotFound, "The content has nothing at this JSON Pointer.")
	case errors.Is(err, table.ErrTooLong):
		return problem.Errorf(http.StatusUnprocessableEntity, "%s", problem.Sentence(err.Error()))
	case errors.Is(err, jsonstream.ErrSyntax), errors.Is(err, jsonstream.ErrTooLarge):
		return problem.Errorf(http.StatusUnprocessableEntity, "The content can’t be shown: %v. Download it instead.", err)
	}
	return err
}

// ChartSVG serves a chart as a picture.
func ChartSVG(w http.ResponseWriter, r *http.Request, _ generators.Caller, c *content) error {
	body, err := io.ReadAll(io.LimitReader(c.body, maxChart))
	if err != nil {
		return err
	}
	drawn, ok := chart.Parse("chart", body)
	if media, _, _ := mime.ParseMediaType(c.Artifact.MediaType); !ok || media != generators.ChartType || drawn.IsEmpty() {
		return problem.Errorf(http.StatusNotFound, "There is no chart here.")
	}
	name := strings.TrimSuffix(downloadName(&c.Artifact), ".json") + ".svg"
	serveContent(w, r, "image/svg+xml", name, time.Time{}, strings.NewReader(drawn.Picture(c.Artifact.Title)))
	return nil
}

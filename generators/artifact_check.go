package generators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// check returns an error if an artifact doesn't have the form of its media type, so that a
// surface could show only a part of it, or something else. A body that is stored elsewhere
// was checked before.
func (a *Artifact) check() error {
	err := a.malformed
	if err == nil {
		err = checkBody(a.MediaType, a.Body)
	}
	if err != nil {
		return fmt.Errorf("the artifact %q can't be shown: %w", call.TruncateText(a.Title), err)
	}
	return nil
}

func checkBody(mediaType string, body []byte) error {
	media, _, _ := mime.ParseMediaType(mediaType) // others than those below can be downloaded
	beginning, isPicture := pictureBeginnings[media]
	switch {
	case len(body) == 0:
		return nil
	case media == TableType:
		return checkTable(body)
	case media == ChartType:
		return checkChart(body)
	case isPicture && !bytes.HasPrefix(body, []byte(beginning)):
		return fmt.Errorf("it is not a picture of the type %s", media)
	}
	return nil
}

// pictureBeginnings are the beginnings of the types of pictures that all browsers show.
var pictureBeginnings = map[string]string{
	"image/png": "\x89PNG", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF8", "image/webp": "RIFF",
}

// checkTable returns an error if a surface can't show all cells of a table, each in its
// column.
func checkTable(body []byte) error {
	var t struct {
		Columns []string            `json:"columns"`
		Rows    [][]json.RawMessage `json:"rows"`
	}
	if err := decodeExactly(body, &t); err != nil {
		return fmt.Errorf("it is not a table: %w", err)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d has %s, but the table has %s", i+1, humanize.Count(len(row), "value"), humanize.Count(len(t.Columns), "column"))
		}
		for n, cell := range row {
			if c := cell[0]; c == '{' || c == '[' {
				return fmt.Errorf("the value in row %d and column %q is %s; a cell is a string, a number, a bool or nil", i+1, t.Columns[n], rawjson.TypeName(cell))
			}
		}
	}
	return nil
}

// checkChart returns an error if a surface can't draw all of a chart.
func checkChart(body []byte) error {
	var c struct {
		Chart
		Series []struct {
			Name   string     `json:"name"`
			Values []*float64 `json:"values"`
		} `json:"series"`
	}
	if err := decodeExactly(body, &c); err != nil {
		return fmt.Errorf("it is not a chart: %w", err)
	}
	switch c.Kind {
	case Bars, Lines, Areas:
	case Histogram:
		if len(c.Labels) > 0 {
			return errors.New("a histogram has no labels; surfaces count its values in intervals")
		}
	default:
		return fmt.Errorf("there is no kind of chart %q; the kinds are %s, %s, %s and %s", call.TruncateText(string(c.Kind)), Bars, Lines, Areas, Histogram)
	}
	for i, s := range c.Series {
		if c.Kind != Histogram && len(s.Values) != len(c.Labels) {
			return fmt.Errorf("the series %q has %s, but the chart has %s", call.TruncateText(s.Name), humanize.Count(len(s.Values), "value"), humanize.Count(len(c.Labels), "label"))
		}
		for n, v := range s.Values {
			if v == nil {
				return fmt.Errorf("value %d of series %d is null; each value is a number", n+1, i+1)
			}
		}
	}
	return nil
}

// decodeExactly decodes JSON that has only the members that v has.
func decodeExactly(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

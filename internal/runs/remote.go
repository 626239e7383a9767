package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// Remote reaches the runs of another Beam over HTTP (docs/http.md). It is safe for
// concurrent use.
type Remote struct {
	Base   string // the URL of the Beam, without a slash at the end
	Token  string // empty for none
	Client *http.Client
	Name   string // what errors call the Beam; empty for Base
}

func (r *Remote) name() string { return cmp.Or(r.Name, r.Base) }

// maxReply bounds how much of a reply is read, in bytes.
const maxReply = 128 << 20

// Photons returns the photons that may be started.
func (r *Remote) Photons(ctx context.Context) ([]Photon, error) {
	var list struct{ Photons []Photon }
	err := r.get(ctx, "/", &list, nil)
	return list.Photons, err
}

// Photon returns one of them. The error is [engine.ErrPhotonNotFound] if there is none.
func (r *Remote) Photon(ctx context.Context, name string) (p Photon, err error) {
	err = r.get(ctx, "/photons/"+url.PathEscape(name), &p, engine.ErrPhotonNotFound)
	return p, err
}

// Start starts a run and returns its id.
func (r *Remote) Start(ctx context.Context, photon string, args json.RawMessage) (string, error) {
	var started struct{ ID string }
	request := request{method: http.MethodPost, path: "/photons/" + url.PathEscape(photon) + "/runs", mediaType: "application/json", body: bytes.NewReader(args), notFound: engine.ErrPhotonNotFound}
	err := r.do(ctx, request, &started)
	return started.ID, err
}

// Fork starts a run that goes on from another one, and returns its id. A nil until is its last
// entry, and nil args are its arguments.
func (r *Remote) Fork(ctx context.Context, id string, until *uint64, args json.RawMessage) (string, error) {
	body, err := json.Marshal(struct {
		Until *uint64         `json:"until,omitempty"`
		Input json.RawMessage `json:"input,omitempty"`
	}{until, args})
	if err != nil {
		return "", err
	}
	var started struct{ ID string }
	err = r.do(ctx, request{method: http.MethodPost, path: "/runs/" + url.PathEscape(id) + "/fork", mediaType: "application/json", body: bytes.NewReader(body), notFound: engine.ErrRunNotFound}, &started)
	return started.ID, err
}

// Cancel stops a run.
func (r *Remote) Cancel(ctx context.Context, id string) error {
	return r.do(ctx, request{method: http.MethodPost, path: "/runs/" + url.PathEscape(id) + "/cancel", notFound: engine.ErrRunNotFound}, nil)
}

// Runs returns the runs, newest first.
func (r *Remote) Runs(ctx context.Context) ([]engine.Info, error) {
	var list struct{ Runs []engine.Info }
	err := r.get(ctx, "/runs", &list, nil)
	return list.Runs, err
}

// Run returns a run with its open questions.
func (r *Remote) Run(ctx context.Context, id string) (info engine.Info, err error) {
	err = r.get(ctx, "/runs/"+url.PathEscape(id), &info, engine.ErrRunNotFound)
	return info, err
}

// Result returns the result of a run that has ended with one.
func (r *Remote) Result(ctx context.Context, id string) (result json.RawMessage, err error) {
	err = r.get(ctx, "/runs/"+url.PathEscape(id)+"/result", &result, engine.ErrRunNotFound)
	return result, err
}

// UnfinishedRuns returns what [ReadUnfinishedRuns] reads. The caller closes it. Only operators may.
func (r *Remote) UnfinishedRuns(ctx context.Context) (io.ReadCloser, error) {
	resp, err := r.send(ctx, request{method: http.MethodGet, path: "/unfinished"})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Asks returns the open questions, oldest first, without the content of what they show.
func (r *Remote) Asks(ctx context.Context) ([]engine.OpenAsk, error) {
	var list struct{ Asks []engine.OpenAsk }
	err := r.get(ctx, "/asks", &list, nil)
	return list.Asks, err
}

// Ask returns an open question.
func (r *Remote) Ask(ctx context.Context, id string) (open engine.OpenAsk, err error) {
	err = r.get(ctx, "/asks/"+url.PathEscape(id), &open, engine.ErrAskNotFound)
	return open, err
}

// Answer settles a question.
func (r *Remote) Answer(ctx context.Context, askID string, a Answer) error {
	request := request{method: http.MethodPost, path: "/mcp/request", mediaType: "application/json", notFound: engine.ErrAskNotFound, rendered: a.Rendered}
	if a.Action == askdata.Accept && a.Files != nil {
		body, contentType := uploadForm(a.Files)
		defer body.Close()
		request.path += "?ask=" + url.QueryEscape(askID) + "&action=accept"
		request.mediaType, request.body = contentType, body
		return r.do(ctx, request, nil)
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": askID, "result": askdata.Answer{Action: a.Action, Content: a.Content}})
	if err != nil {
		return err
	}
	request.body = bytes.NewReader(raw)
	return r.do(ctx, request, nil)
}

// uploadForm returns a multipart form of files, which are read as it is.
func uploadForm(paths []string) (body *io.PipeReader, contentType string) {
	body, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		for _, path := range paths {
			if err := writePart(form, path); err != nil {
				w.CloseWithError(err)
				return
			}
		}
		w.CloseWithError(form.Close())
	}()
	return body, form.FormDataContentType()
}

func writePart(form *multipart.Writer, path string) error {
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", filepath.Base(path))},
		"Content-Type":        {mediaTypeOf(path)},
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(part, f)
	return err
}

// A request is an HTTP request to Beam.
type request struct {
	method, path, mediaType string
	body                    io.Reader
	notFound                error // what status 404 means
	rendered                runlog.Rendering
}

func (r *Remote) get(ctx context.Context, path string, reply any, notFound error) error {
	return r.do(ctx, request{method: http.MethodGet, path: path, notFound: notFound}, reply)
}

// do sends a request, and decodes the reply's JSON unless reply is nil.
func (r *Remote) do(ctx context.Context, q request, reply any) error {
	resp, err := r.send(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if reply == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(reply); err != nil {
		return fmt.Errorf("%s doesn't answer as Beam does: %w", r.name(), err)
	}
	return nil
}

// send returns a successful response, whose body the caller closes, or its error.
func (r *Remote) send(ctx context.Context, q request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, q.method, r.Base+q.path, q.body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set(links.SurfaceHeader, Surface)
	if q.rendered != "" {
		req.Header.Set(links.RenderedHeader, string(q.rendered))
	}
	if q.mediaType != "" {
		req.Header.Set("Content-Type", q.mediaType)
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, r.connectError(ctx, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, r.statusError(resp, q)
}

func (r *Remote) connectError(ctx context.Context, err error) error {
	var invalid *generators.InvalidError
	var at *url.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &invalid): // of a file that can't be read
		return invalid
	case errors.As(err, &at):
		err = at.Err
	}
	return fmt.Errorf("can't reach %s: %w", r.name(), err)
}

// statusError returns the error that a response is.
func (r *Remote) statusError(resp *http.Response, q request) error {
	var body struct {
		Error struct {
			Message string
			Fields  []generators.FieldError
			Parked  *runlog.Parked
			Data    struct {
				Fields []generators.FieldError
				Parked *runlog.Parked
			}
		}
	}
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body) // an error page of a proxy has none
	if fields := append(body.Error.Fields, body.Error.Data.Fields...); resp.StatusCode == http.StatusUnprocessableEntity && len(fields) > 0 {
		return &generators.InvalidError{Fields: fields}
	}
	switch text := strings.TrimSpace(body.Error.Message); {
	case resp.StatusCode == http.StatusNotFound && q.notFound != nil:
		return q.notFound
	case resp.StatusCode == http.StatusConflict:
		for _, err := range []error{engine.ErrSamplingChanged, sampling.ErrNotForModel} {
			if strings.EqualFold(text, err.Error()+".") {
				return err
			}
		}
		if p := cmp.Or(body.Error.Parked, body.Error.Data.Parked); p != nil {
			return &engine.ParkedError{Parked: p}
		}
		return engine.ErrSettled
	case resp.StatusCode == http.StatusUnauthorized && r.Token == "":
		return fmt.Errorf("%s requires a token: set --token, or $BEAM_TOKEN", r.name())
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s requires a token, and this isn't it: set --token, or $BEAM_TOKEN", r.name())
	case text != "":
		return errors.New(text)
	}
	return fmt.Errorf("%s answered with status %s", r.name(), resp.Status)
}

package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/engine"
)

// multipartOverhead is what a multipart form may hold besides the files themselves.
const multipartOverhead = 1 << 20

// storeUploads streams a form's files to the run's store, part by part. The answer
// returned names those that were stored even if there is an error.
func (s *Server) storeUploads(w http.ResponseWriter, r *http.Request, who engine.Caller, open engine.OpenAsk) (ask.Answer, error) {
	a := ask.Answer{Action: ask.Accept, Files: []ask.FileRef{}}
	if mediaType(r) != multipartType {
		return a, unsupportedMediaType(r, multipartType)
	}
	rules := open.Question.File
	limitBodySize(w, r, rules.MaxSize*int64(rules.Max)+multipartOverhead+maxDrain)
	defer drainBody(w, r)
	parts, err := r.MultipartReader()
	if err != nil {
		return a, bodyError(err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, bodyError(err)
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if len(a.Files) > rules.Max {
			return a, nil // too many already; Check says so
		}
		ref, err := s.storeUpload(w, r, who, open, part)
		if err != nil {
			return a, err
		}
		a.Files = append(a.Files, ref)
	}
}

// maxDrain is how much of a body that is refused is read all the same. A browser
// that is still sending takes no answer: it would find its connection reset,
// and its person would not learn what was wrong.
const maxDrain = 1 << 30

func drainBody(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, newUploadReader(w, r.Body)) // what is wrong with it was said
}

func (s *Server) storeUpload(w http.ResponseWriter, r *http.Request, who engine.Caller, open engine.OpenAsk, part *multipart.Part) (ask.FileRef, error) {
	ref := ask.FileRef{Name: part.FileName(), MediaType: part.Header.Get("Content-Type")}
	if ref.MediaType == "" {
		ref.MediaType = "application/octet-stream"
	}
	content := newUploadReader(w, part)
	var err error
	ref.Digest, ref.Size, err = s.engine.Upload(r.Context(), who, open.ID, content)
	if content.err != nil {
		err = bodyError(content.err)
	}
	return ref, err
}

// uploadReader gives a large body more time as long as it keeps coming, and
// remembers what was wrong with it, so that a fault of the sender can be told
// from one of the store.
type uploadReader struct {
	io.Reader
	ctl      *http.ResponseController
	deadline time.Time
	err      error
}

func newUploadReader(w http.ResponseWriter, body io.Reader) *uploadReader {
	return &uploadReader{Reader: body, ctl: http.NewResponseController(w), deadline: time.Now().Add(bodyTimeout)}
}

func (p *uploadReader) Read(b []byte) (int, error) {
	_ = p.ctl.SetReadDeadline(p.deadline) // not every writer has one
	n, err := p.Reader.Read(b)
	p.deadline = p.deadline.Add(time.Duration(n) * time.Second / bodyRate)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/run"
)

// formSlack is what a multipart form may hold besides the files themselves.
const formSlack = 1 << 20

// upload streams a form's files to the run's store, part by part. The answer
// returned names those that were stored even if there is an error.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, who run.Caller, open run.Open) (ask.Answer, error) {
	a := ask.Answer{Action: ask.Accept, Files: []ask.FileRef{}}
	if mediaType(r) != multipartType {
		return a, unsupported(r, multipartType)
	}
	rules := open.Question.File
	limitBody(w, r, rules.MaxSize*int64(rules.Max)+formSlack+drained)
	defer drain(w, r)
	parts, err := r.MultipartReader()
	if err != nil {
		return a, unreadable(err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, unreadable(err)
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if len(a.Files) > rules.Max {
			return a, nil // too many already; Check says so
		}
		ref, err := s.storePart(w, r, who, open, part)
		if err != nil {
			return a, err
		}
		a.Files = append(a.Files, ref)
	}
}

// drained is how much of a body that is refused is read all the same. A browser
// that is still sending takes no answer: it would find its connection reset,
// and its person would not learn what was wrong.
const drained = 1 << 30

func drain(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, patiently(w, r.Body)) // what is wrong with it was said
}

func (s *Server) storePart(w http.ResponseWriter, r *http.Request, who run.Caller, open run.Open, part *multipart.Part) (ask.FileRef, error) {
	ref := ask.FileRef{Name: part.FileName(), MediaType: part.Header.Get("Content-Type")}
	if ref.MediaType == "" {
		ref.MediaType = "application/octet-stream"
	}
	content := patiently(w, part)
	var err error
	ref.Digest, ref.Size, err = s.engine.Upload(r.Context(), who, open.ID, content)
	if content.err != nil {
		err = unreadable(content.err)
	}
	return ref, err
}

// patient gives a large body more time as long as it keeps coming, and
// remembers what was wrong with it, so that a fault of the sender can be told
// from one of the store.
type patient struct {
	io.Reader
	ctl   *http.ResponseController
	until time.Time
	err   error
}

func patiently(w http.ResponseWriter, body io.Reader) *patient {
	return &patient{Reader: body, ctl: http.NewResponseController(w), until: time.Now().Add(bodyTimeout)}
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.ctl.SetReadDeadline(p.until) // not every writer has one
	n, err := p.Reader.Read(b)
	p.until = p.until.Add(time.Duration(n) * time.Second / bodyRate)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

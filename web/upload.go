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
	limitBody(w, r, rules.MaxSize*int64(rules.Max)+formSlack)
	defer bodyDone(w)
	parts, err := r.MultipartReader()
	if err != nil {
		return a, refuse(http.StatusBadRequest, "The form could not be read: %v.", err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, uploadError(err)
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if len(a.Files) > rules.Max {
			return a, nil // too many already; Check says so
		}
		ref, err := s.storePart(w, r, who, open, part)
		if err != nil {
			return a, uploadError(err)
		}
		a.Files = append(a.Files, ref)
	}
}

func (s *Server) storePart(w http.ResponseWriter, r *http.Request, who run.Caller, open run.Open, part *multipart.Part) (ask.FileRef, error) {
	ref := ask.FileRef{Name: part.FileName(), MediaType: part.Header.Get("Content-Type")}
	if ref.MediaType == "" {
		ref.MediaType = "application/octet-stream"
	}
	content := patient{part, http.NewResponseController(w)}
	var err error
	ref.Digest, ref.Size, err = s.engine.Upload(r.Context(), who, open.ID, content)
	return ref, err
}

// patient gives a large body more time as long as it keeps coming.
type patient struct {
	io.Reader
	ctl *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	_ = p.ctl.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer has one
	return p.Reader.Read(b)
}

// uploadError makes errors of reading the request the caller's.
func uploadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(http.StatusBadRequest, "The upload ended too early.")
	}
	return err
}

func asLarge(err error, to **http.MaxBytesError) bool { return errors.As(err, to) }

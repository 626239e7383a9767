package asks

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/request"
)

// multipartOverhead is how many bytes a multipart form may contain besides its files.
const multipartOverhead = 1 << 20

// storeUploads streams a form's files to the run's store. The answer returned contains
// the stored files even if there is an error.
func (h *Answers) storeUploads(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk) (askdata.Answer, error) {
	a := askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{}}
	if request.MediaType(r) != request.MultipartType {
		return a, request.UnsupportedMediaType(r, request.MultipartType)
	}
	rules := open.Question.File
	request.LimitBodySize(w, r, rules.MaxSize*int64(rules.Max)+multipartOverhead+maxDrain)
	defer drainBody(w, r)
	parts, err := r.MultipartReader()
	if err != nil {
		return a, request.BodyError(err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, request.BodyError(err)
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if len(a.Files) > rules.Max {
			return a, nil // already too many; the answer's validation reports it
		}
		ref, err := h.storeUpload(w, r, caller, open, part)
		if err != nil {
			return a, err
		}
		a.Files = append(a.Files, ref)
	}
}

// maxDrain is how many bytes of a rejected body are read. A browser doesn't read the
// response while it sends: without draining, it would see a connection reset instead of
// the error.
const maxDrain = 1 << 30

func drainBody(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, request.NewUploadReader(w, r.Body)) // its error was reported already
}

func (h *Answers) storeUpload(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, part *multipart.Part) (askdata.FileRef, error) {
	ref := askdata.FileRef{Name: part.FileName(), MediaType: part.Header.Get("Content-Type")}
	if ref.MediaType == "" {
		ref.MediaType = "application/octet-stream"
	}
	content := request.NewUploadReader(w, part)
	var err error
	ref.Digest, ref.Size, err = h.Engine.Upload(r.Context(), caller, open.ID, content)
	if content.Err != nil {
		err = request.BodyError(content.Err)
	}
	return ref, err
}

// discardUploads removes the uploads of a rejected answer.
func (h *Answers) discardUploads(open engine.OpenAsk, a askdata.Answer) {
	for _, f := range a.Files {
		h.Engine.DiscardUpload(open.Run, f.Digest, f.Size)
	}
}

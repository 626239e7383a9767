package web

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleExport serves a whole run as a file: as an HTML document that needs no other file, or
// as JSON with the entries of its log.
func (s *Server) handleExport(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	switch format := r.URL.Query().Get("format"); format {
	case "html":
		return s.exportHTML(w, r, caller, info)
	case "json":
		return s.exportJSON(w, r, caller, info)
	default:
		return problem.Errorf(http.StatusBadRequest, "The parameter format must be html or json.")
	}
}

func (s *Server) exportHTML(w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info) error {
	run := timeline.NewWindow(info.ID, timeline.Window{Whole: true})
	if err := s.applyLog(r, caller, run); err != nil {
		return err
	}
	s.loadLargeBodies(r, caller, run)
	page, err := ui.Render(ui.ForExport(r.Context()), ui.ExportedRun(run, assets.Pages().Text("beam.css")))
	if err != nil {
		return err
	}
	setExportHeaders(w, info, "text/html; charset=utf-8", "html")
	if _, err := w.Write(page); err != nil {
		s.logger.Debug("exporting a run", "run", info.ID, "err", err)
	}
	return nil
}

// loadLargeBodies reads the bodies of artifacts that the log only refers to, as far as an
// export may have them. One that can't be read says why instead.
func (s *Server) loadLargeBodies(r *http.Request, caller generators.Caller, run *timeline.Run) {
	for _, i := range run.Items {
		a := i.Artifact
		if a == nil || len(a.Body) > 0 || a.Digest == "" || !run.ReserveBody(a.Size) {
			continue
		}
		_, body, err := s.engine.OpenArtifact(r.Context(), caller, run.ID, i.Seq)
		var content []byte
		if err == nil && body != nil {
			content, err = io.ReadAll(io.LimitReader(body, a.Size))
			body.Close()
		}
		if err != nil {
			_, text, _ := problem.Classify(err)
			i.Artifact = &generators.Artifact{Title: a.Title, MediaType: "text/plain", Body: []byte(text)}
			continue
		}
		a.Body = content
	}
}

// exportJSON writes a run and the entries of its log that [entryRenderer] tells of. The log is
// written as it is read: one that ends in the middle has no closing bracket.
func (s *Server) exportJSON(w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info) error {
	batches, err := s.engine.Read(r.Context(), caller, info.ID, 0)
	if err != nil {
		return err
	}
	head, err := json.Marshal(info)
	if err != nil {
		return err
	}
	setExportHeaders(w, info, request.JSONType, "json")
	io.WriteString(w, `{"run":`+string(head)+`,"entries":[`)
	separator := "\n"
	for batch, err := range batches {
		var messages []json.RawMessage
		if err == nil {
			messages, err = publicEntries(batch)
		}
		if err != nil {
			s.logger.Error("exporting a run", "run", info.ID, "err", err)
			panic(http.ErrAbortHandler) // what the client has isn't the whole
		}
		for _, m := range messages {
			if _, err := io.WriteString(w, separator+string(m)); err != nil {
				return nil // the client is gone
			}
			separator = ",\n"
		}
	}
	io.WriteString(w, "\n]}\n")
	return nil
}

// publicEntries encodes the entries that clients may see.
func publicEntries(batch []runlog.Entry) (encoded []json.RawMessage, err error) {
	messages, err := entryRenderer{}.Render(batch)
	for _, m := range messages {
		encoded = append(encoded, m.Data)
	}
	return encoded, err
}

func setExportHeaders(w http.ResponseWriter, info engine.Info, mediaType, extension string) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; sandbox")
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	response.Attachment(w, exportName(info)+"."+extension)
}

// exportName returns the name of a run's file: the photon's and the beginning of the id.
func exportName(info engine.Info) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return -1
	}, info.Photon)
	return cmp.Or(strings.Trim(name, "."), "run") + "-" + timeline.ShortID(info.ID)
}

// handleAskDelete asks whether to delete a run.
func (s *Server) handleAskDelete(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	if !info.State.Ended() {
		return engine.ErrRunNotEnded
	}
	run, err := s.loadTimeline(r, caller, id)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.DeleteRunPage(s.newChrome(r, caller, "Delete a run"), run))
}

// handleDelete deletes a run.
func (s *Server) handleDelete(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if err := s.engine.Delete(caller, r.PathValue("id")); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, s.links.Runs())
}

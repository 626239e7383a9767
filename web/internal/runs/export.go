package runs

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/medium"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Export serves a whole run as a file: as an HTML document that needs no other file, or
// as JSON with the entries of its log.
func (h *Handlers) Export(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := h.Engine.Info(caller, id)
	if err != nil {
		return err
	}
	switch format := r.URL.Query().Get("format"); format {
	case "html":
		return h.exportHTML(w, r, caller, info)
	case "json":
		return h.exportJSON(w, r, caller, info)
	default:
		return problem.Errorf(http.StatusBadRequest, "The parameter format must be html or json.")
	}
}

func (h *Handlers) exportHTML(w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info) error {
	run, err := h.Loader.LoadWindow(r.Context(), caller, info.ID, timeline.Window{Whole: true})
	if err != nil {
		return err
	}
	h.loadLargeBodies(r, caller, run)
	page, err := ui.Render(medium.With(r.Context(), medium.Export), ui.ExportedRun(run, assets.Pages().Text("beam.css")))
	if err != nil {
		return err
	}
	setExportHeaders(w, info, "text/html; charset=utf-8", "html")
	if _, err := w.Write(page); err != nil {
		h.Logger.Debug("exporting a run", "run", info.ID, "err", err)
	}
	return nil
}

// loadLargeBodies reads the bodies of artifacts that the log only refers to, as far as an
// export may have them. One that can't be read says why instead.
func (h *Handlers) loadLargeBodies(r *http.Request, caller generators.Caller, run *timeline.Run) {
	for _, i := range run.Items {
		a := i.Artifact
		if a == nil || len(a.Body) > 0 || a.Digest == "" || !run.ReserveBody(a.Size) {
			continue
		}
		_, body, err := h.Engine.OpenArtifact(r.Context(), caller, run.ID, i.Seq)
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

// exportJSON writes a run and the entries of its log that clients may see. The log is
// written as it is read: one that ends in the middle has no closing bracket.
func (h *Handlers) exportJSON(w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info) error {
	batches, err := h.Engine.Read(r.Context(), caller, info.ID, 0)
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
		for _, e := range batch {
			e, public := e.Public()
			if !public {
				continue
			}
			raw, err := json.Marshal(e)
			if err != nil {
				return h.abortExport(info, err)
			}
			if _, err := io.WriteString(w, separator+string(raw)); err != nil {
				return nil // the client is gone
			}
			separator = ",\n"
		}
		if err != nil {
			return h.abortExport(info, err)
		}
	}
	io.WriteString(w, "\n]}\n")
	return nil
}

// abortExport breaks a response off: what the client has isn't the whole.
func (h *Handlers) abortExport(info engine.Info, err error) error {
	h.Logger.Error("exporting a run", "run", info.ID, "err", err)
	panic(http.ErrAbortHandler)
}

func setExportHeaders(w http.ResponseWriter, info engine.Info, mediaType, extension string) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; sandbox")
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
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

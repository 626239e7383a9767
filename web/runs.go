package web

import (
	"net/http"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// How many runs a list has: at most, and on a page.
const (
	maxListedRuns = 200
	runsPerPage   = 50
)

func (s *Server) handleRuns(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	query := r.URL.Query()
	limit, err := request.Limit(query, maxListedRuns)
	if err != nil {
		return err
	}
	if !request.WantsJSON(r) && limit > runsPerPage {
		limit = runsPerPage
	}
	list, err := s.runsPage(query, caller, limit)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		page := map[string]any{"runs": response.NonNil(list.infos)}
		if list.next != "" {
			page["next"] = list.next
		}
		response.JSON(w, http.StatusOK, page)
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Runs(s.newChrome(r, caller, "Runs"), s.newRunsPage(query, caller, list)))
}

// runsPage returns the page of the list of runs that a query describes.
func (s *Server) runsPage(query url.Values, caller generators.Caller, limit int) (page runSearch, err error) {
	filter, err := parseRunFilter(query)
	if err != nil {
		return page, err
	}
	started, id, err := parseCursor(query)
	if err != nil {
		return page, err
	}
	page, err = s.searchRuns(caller, newRunMatcher(filter), engine.Position{At: started, ID: id}, limit)
	page.filter = filter
	return page, err
}

func (s *Server) newRunsPage(query url.Values, caller generators.Caller, list runSearch) ui.RunsPage {
	return ui.RunsPage{
		RunFilter: list.filter, Runs: s.runLines(caller, list.infos), Next: list.next, After: query.Get("after"),
		Scanned: list.scanned, Oldest: list.oldest, OfAll: caller.HasRole(generators.RoleOperator),
	}
}

func (s *Server) handleRun(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		response.JSON(w, http.StatusOK, info)
		return nil
	}
	r = r.WithContext(engine.WithPanics(r.Context()))
	if query := r.URL.Query(); query.Has("before") || query.Has("after") {
		return s.renderRows(w, r, caller, id)
	}
	run, err := s.loadTimeline(r, caller, id)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.RunPage(s.newChrome(r, caller, run.Title+" "+run.ShortID()), run))
}

// renderRows renders a page of a run's rows.
func (s *Server) renderRows(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string) error {
	var window timeline.Window
	var err error
	if window.Before, err = request.Ordinal(r.URL.Query(), "before"); err != nil {
		return err
	}
	if window.After, err = request.Ordinal(r.URL.Query(), "after"); err != nil {
		return err
	}
	run := timeline.NewWindow(id, window)
	if err := s.applyLog(r, caller, run); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.RunRowsPage(s.newChrome(r, caller, run.Title+" "+run.ShortID()), run))
}

// loadTimeline folds a run's log into its timeline.
func (s *Server) loadTimeline(r *http.Request, caller generators.Caller, id string) (*timeline.Run, error) {
	run := timeline.New(id)
	return run, s.applyLog(r, caller, run)
}

// applyLog folds a run's log into a timeline.
func (s *Server) applyLog(r *http.Request, caller generators.Caller, run *timeline.Run) error {
	batches, err := s.engine.Read(r.Context(), caller, run.ID, 0)
	if err != nil {
		return err
	}
	run.Viewer, run.Models, run.Unanswerable = caller, s.sampling.Models(), s.engine.IsUnanswerable
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for _, e := range batch {
			run.Apply(e)
		}
	}
	run.Upstream = s.upstreamOf(run.Photon)
	return nil
}

package web

import (
	"net/http"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxListedRuns is how many runs the list of runs shows.
const maxListedRuns = 200

// hasState returns a filter for the runs in a state; an empty state matches all.
func hasState(state string) func(engine.Info) bool {
	return func(i engine.Info) bool { return state == "" || string(i.State) == state }
}

func (s *Server) handleRuns(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	state := r.URL.Query().Get("state")
	if state != "" && !slices.Contains(ui.RunStates, engine.State(state)) {
		return statusErrorf(http.StatusBadRequest, "The parameter state is not a run state.")
	}
	infos := s.engine.Runs(caller, maxListedRuns, hasState(state))
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"runs": nonNil(infos)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Runs(s.newChrome(r, caller, "Runs"), ui.RunsPage{State: state, Runs: s.runLines(caller, infos)}))
}

func (s *Server) handleRun(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, info)
		return nil
	}
	run, err := s.loadTimeline(r, caller, id)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.RunPage(s.newChrome(r, caller, run.Title+" "+run.ShortID()), run))
}

// loadTimeline folds a run's log into its timeline.
func (s *Server) loadTimeline(r *http.Request, caller generators.Caller, id string) (*timeline.Run, error) {
	batches, err := s.engine.Read(r.Context(), caller, id, 0)
	if err != nil {
		return nil, err
	}
	run := timeline.New(id)
	run.Viewer, run.Models = caller, s.sampling.Models()
	for batch, err := range batches {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			run.Apply(e)
		}
	}
	run.Upstream = s.upstreamOf(run.Photon)
	return run, nil
}

// nonNil returns an empty list for nil, which JSON would encode as null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// ErrSamplingChanged means that somebody else has meanwhile approved a request to a
// model, or ended its call.
var ErrSamplingChanged = journal.ErrSamplingChanged

// RecordSampling records what happens with an open question to a model. The question
// stays open. An approval without a number gets the next one. RecordSampling returns the
// number of the call. The error is [ErrAskNotFound], [ErrForbidden], [ErrSettled], [ErrParked]
// for an approval, the log's, or [ErrSamplingChanged] if s isn't of the next call, or of the one in progress.
func (x questions) RecordSampling(ctx context.Context, caller generators.Caller, askID string, s runlog.Sampling) (call int, err error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.AskSeq = seq
	a := r.FindAsk(seq)
	if a == nil {
		return 0, x.notOpenError(ctx, r.id, seq)
	}
	if s.Approved != nil && s.Approved.By != nil { // who thereby answers, even if a surface calls in another's name
		err = checkAdmits(r.listed(a), *s.Approved.By)
	} else if !r.isUsableBy(caller) {
		err = ErrForbidden
	}
	if err != nil {
		return 0, err
	}
	if s.Approved != nil && s.Call == 0 {
		s.Call = a.Call + 1
	}
	if s.Approved != nil && r.Parked != nil {
		return 0, &ParkedError{r.Parked}
	}
	if err := journal.CheckSampling(&r.Run, s); err != nil {
		return 0, err
	}
	return s.Call, asSettledError(r.Append(context.WithoutCancel(ctx), runlog.NewEntry(runlog.KindSampling, s)))
}

// ApprovedSample returns the version of a question's request that was approved last, if that
// isn't the one that was asked; else nil. The error is that of [Engine.Question].
func (x questions) ApprovedSample(ctx context.Context, caller generators.Caller, askID string) (*ask.SampleRequest, error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	a := r.FindAsk(seq)
	isAsAsked := a != nil && a.Version == 0
	r.mu.Unlock()
	if isAsAsked {
		return nil, nil
	}
	return readApproved(ctx, x.files, r.id, seq)
}

// readApproved reads from the log the version of a question's request that was approved last;
// nil if that is the one that was asked.
func readApproved(ctx context.Context, f *files.Files, run string, seq uint64) (version *ask.SampleRequest, err error) {
	for batch, err := range f.Read(ctx, run, seq) {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			switch e.Kind {
			case runlog.KindSampling:
				s, err := runlog.Decode[runlog.Sampling](e)
				if err != nil {
					return nil, err
				}
				if s.AskSeq == seq && s.Approved != nil {
					version = s.Approved.Request
				}
			case runlog.KindAnswered, runlog.KindWithdrawn:
				if settled, err := runlog.Decode[struct {
					AskSeq uint64 `json:"ask"`
				}](e); err != nil || settled.AskSeq == seq {
					return version, err
				}
			}
		}
	}
	return version, nil
}

// MaskSample returns a version of the request of an open question with the secrets masked
// that the run's generator has been given, as they are in the question. The error is
// [ErrAskNotFound], or that of reading the secrets.
func (x questions) MaskSample(askID string, request *ask.SampleRequest) (*ask.SampleRequest, error) {
	run, _, _ := runlog.SplitAskID(askID)
	r, err := x.load(run)
	if errors.Is(err, ErrRunNotFound) {
		err = ErrAskNotFound
	}
	if err != nil {
		return nil, err
	}
	secrets, err := r.secretAnswers.known()
	if err != nil {
		return nil, err
	}
	return secrets.Sample(request), nil
}

// ModelReplies reports whether a run waits for nothing but the replies of models.
func (x questions) ModelReplies(run string) bool {
	r, err := x.load(run)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Asks) > 0 && !slices.ContainsFunc(r.Asks, func(a *runstate.Ask) bool { return !a.Calling })
}

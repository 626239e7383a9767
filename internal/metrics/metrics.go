// Package metrics exports Prometheus metrics of an engine. The engine reports
// events as they happen; gauges are read from the engine when Prometheus scrapes.
// The cost of a scrape depends on the number of open questions, not of runs.
//
// No label has a value that people, tools or clients can choose freely, such as an
// id, owner, key or text. The number of photon names is limited; see
// [maxPhotons].
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// Metrics holds the metrics of one engine. Its methods may be called from several
// goroutines.
type Metrics struct {
	registry     *prometheus.Registry
	photonLabels labelNames

	started        *counterFamily
	finished       *counterFamily
	unanswered     *counterFamily
	asked          *counterFamily
	answers        *counterFamily
	withdrawn      *counterFamily
	askOpenSeconds prometheus.Histogram
	replaySeconds  *prometheus.HistogramVec
	appendSeconds  prometheus.Histogram
	appendErrors   *counterFamily
	entries        prometheus.Counter
	modelCalls     *counterFamily
	modelTokens    *counterFamily
	upstreams      *upstreamCounters

	connectionsRefused prometheus.Counter
}

var _ sampling.Meter = (*Metrics)(nil)

var _ engine.Meter = (*Metrics)(nil)

// New returns metrics with all counters at zero. Pass them to the engine as its
// [engine.Meter], and the engine to [Metrics.RegisterEngine].
func New(version string) *Metrics {
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		started:    newCounterFamily("runs_started_total", "Runs started, by photon and by the surface of the request.", "photon", "surface"),
		finished:   newCounterFamily("runs_finished_total", "Runs finished, by photon and status.", "photon", "status"),
		unanswered: newCounterFamily("runs_unanswered_total", "Runs that ended because a question had no answer, by reason.", "reason"),
		asked:      newCounterFamily("asks_total", "Questions asked, by kind.", "kind"),
		answers:    newCounterFamily("answers_total", "Answers that settled a question, by outcome (accept, decline or cancel) and surface.", "outcome", "surface"),
		withdrawn:  newCounterFamily("asks_withdrawn_total", "Questions settled without an answer, by reason.", "reason"),
		askOpenSeconds: histogram("ask_open_seconds", "How long settled questions were open.",
			1, 10, 60, 5*60, 30*60, 2*3600, 8*3600, 24*3600, 3*24*3600, 7*24*3600),
		replaySeconds: prometheus.NewHistogramVec(histogramOptions("replay_seconds",
			"How long it took to resume runs by replay, including reading their logs, or until the replay was abandoned.",
			0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10), []string{"result"}),
		appendSeconds: histogram("log_append_seconds", "Duration of successful appends to the log.",
			10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10),
		appendErrors: newCounterFamily("log_append_errors_total", "Failed appends to the log: another append came first (conflict), the request was canceled (cancelled), the disk was full (full), the outcome is unknown (uncertain), or another error (other).", "reason"),
		entries:      prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "log_entries_total", Help: "Entries appended to the log."}),
		modelCalls:   newCounterFamily("model_calls_total", "Calls of configured models that have ended, by photon and outcome (replied, failed or stopped).", "photon", "outcome"),
		modelTokens:  newCounterFamily("model_tokens_total", "Tokens of calls of configured models, by photon and direction (in or out); estimated if the model's server doesn't count them.", "photon", "direction"),
		upstreams:    newUpstreamCounters(),

		connectionsRefused: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "connections_refused_total", Help: "Connections that were refused because too many were open."}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "1, labeled with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(build, m.started, m.finished, m.unanswered, m.asked, m.answers, m.withdrawn, m.askOpenSeconds, m.replaySeconds, m.appendSeconds, m.appendErrors, m.entries, m.modelCalls, m.modelTokens, m.connectionsRefused)
	m.upstreams.register(m.registry)
	m.initCounters()
	return m
}

// initCounters exports the counters that alerts use with the value zero: a rate
// doesn't see the first event of a counter that begins with it.
func (m *Metrics) initCounters() {
	for _, reason := range []string{labelConflict, labelCanceled, labelDiskFull, labelUncertain, labelOther} {
		m.appendErrors.with(reason, "")
	}
	for _, result := range []string{labelComplete, labelIncomplete} {
		m.replaySeconds.WithLabelValues(result)
	}
	for _, action := range []askdata.Action{askdata.Accept, askdata.Decline, askdata.Cancel} {
		for _, surface := range surfaces {
			m.answers.with(string(action), surface)
		}
	}
	for _, reason := range []runlog.WithdrawReason{runlog.Expired, runlog.RunEnded, runlog.Unsupported, runlog.Invalid, runlog.TakenBack} {
		m.withdrawn.with(reasonLabel(reason), "")
	}
	for _, u := range runlog.UnansweredErrors {
		m.unanswered.with(string(u.Reason), "")
	}
}

// RegisterEngine adds the gauges that are read from an engine. It must be called
// only once.
func (m *Metrics) RegisterEngine(e *engine.Engine) {
	m.registry.MustRegister(&engineCollector{engine: e})
	if e.IsShared() {
		m.registry.MustRegister(&replicaCollector{e, &m.photonLabels})
	}
}

var _ prometheus.Collector = (*Metrics)(nil)

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) { m.registry.Describe(ch) }

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(ch chan<- prometheus.Metric) { m.registry.Collect(ch) }

// namespace begins the names of all metrics.
const namespace = "beam"

func histogram(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(histogramOptions(name, help, buckets...))
}

func histogramOptions(name, help string, buckets ...float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
}

// Values of labels.
const (
	labelConflict   = "conflict"
	labelDiskFull   = "full"
	labelUncertain  = "uncertain"
	labelCanceled   = "cancelled"
	labelOther      = "other"
	labelComplete   = "complete"
	labelIncomplete = "incomplete"
)

// EntriesAppended implements [engine.Meter].
func (m *Metrics) EntriesAppended(entries int, took time.Duration, err error) {
	if err != nil {
		m.appendErrors.with(appendErrorLabel(err), "").Inc()
		return
	}
	m.appendSeconds.Observe(took.Seconds())
	m.entries.Add(float64(entries))
}

// appendErrorLabel returns the label for why an append failed.
func appendErrorLabel(err error) string {
	var conflict *runlog.ConflictError
	switch {
	case errors.As(err, &conflict):
		return labelConflict
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return labelCanceled
	case errors.Is(err, runlog.ErrDiskFull):
		return labelDiskFull
	case errors.Is(err, runlog.ErrUncertain):
		return labelUncertain
	}
	return labelOther
}

// RunStarted implements [engine.Meter].
func (m *Metrics) RunStarted(photon, surface string) {
	m.started.with(m.photonLabels.label(photon), surfaceLabel(surface)).Inc()
}

// AskOpened implements [engine.Meter].
func (m *Metrics) AskOpened(kind askdata.Kind) { m.asked.with(string(kind), "").Inc() }

// AskAnswered implements [engine.Meter].
func (m *Metrics) AskAnswered(action askdata.Action, surface string, open time.Duration) {
	m.answers.with(string(action), surfaceLabel(surface)).Inc()
	m.askOpenSeconds.Observe(open.Seconds())
}

// AskWithdrawn implements [engine.Meter].
func (m *Metrics) AskWithdrawn(reason runlog.WithdrawReason, open time.Duration) {
	m.withdrawn.with(reasonLabel(reason), "").Inc()
	m.askOpenSeconds.Observe(open.Seconds())
}

// RunFinished implements [engine.Meter].
func (m *Metrics) RunFinished(photon string, end runlog.Finished) {
	m.finished.with(m.photonLabels.label(photon), string(end.Status)).Inc()
	if reason := end.Reason(); reason != "" {
		m.unanswered.with(string(reason), "").Inc()
	}
}

// ModelCalled implements [sampling.Meter].
func (m *Metrics) ModelCalled(photon, outcome string, inputTokens, outputTokens int) {
	name := m.photonLabels.label(photon)
	m.modelCalls.with(name, outcome).Inc()
	m.modelTokens.with(name, "in").Add(float64(inputTokens))
	m.modelTokens.with(name, "out").Add(float64(outputTokens))
}

// RunReplayed implements [engine.Meter].
func (m *Metrics) RunReplayed(took time.Duration, complete bool) {
	result := labelComplete
	if !complete {
		result = labelIncomplete
	}
	m.replaySeconds.WithLabelValues(result).Observe(took.Seconds())
}

// Package metrics tells Prometheus what an engine does. The engine tells it what
// happens, and it asks the engine for its counts when it is scraped: neither
// costs more the more runs there are.
//
// No label holds what people, tools or clients can choose freely: no id, owner,
// key or text. Names of photons are bounded, see [maxPhotons].
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// Metrics are the metrics of one engine, and of the process. Its methods may be
// called from several goroutines.
type Metrics struct {
	registry *prometheus.Registry
	photons  names

	started   *family
	finished  *family
	asked     *family
	answers   *family
	withdrawn *family
	open      prometheus.Histogram
	replays   *prometheus.HistogramVec
	appends   prometheus.Histogram
	refused   *family
	entries   prometheus.Counter
}

var _ run.Meter = (*Metrics)(nil)

// New returns metrics that have counted nothing. They are an engine's when it is
// made with them, and [Metrics.Watch] is told of it.
func New(version string) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		started:   counters("runs_started_total", "Runs that were started, by photon and by where the request came from.", "photon", "surface"),
		finished:  counters("runs_finished_total", "Runs that ended, by photon and by how.", "photon", "status"),
		asked:     counters("asks_total", "Questions that were asked, by kind.", "kind"),
		answers:   counters("answers_total", "Answers that settled a question, by outcome (accept, decline or cancel) and by where they came from.", "outcome", "surface"),
		withdrawn: counters("asks_withdrawn_total", "Questions that were settled without an answer, by reason.", "reason"),
		open: histogram("ask_open_seconds", "How long questions were open that are settled.",
			1, 10, 60, 5*60, 30*60, 2*3600, 8*3600, 24*3600, 3*24*3600, 7*24*3600),
		replays: prometheus.NewHistogramVec(histogramOptions("replay_seconds",
			"How long it took runs that were taken up again to come to where they had been, reading their log included; or to end before.",
			0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10), []string{"result"}),
		appends: histogram("log_append_seconds", "How long it took to record entries, in appends that succeeded.",
			10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10),
		refused: counters("log_append_errors_total", "Appends that recorded nothing: another came first (conflict), who wanted it went away (cancelled), the disk was full (full), or another error (other).", "reason"),
		entries: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "log_entries_total", Help: "Entries that were recorded."}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "1, labelled with the program's version.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(build, m.started, m.finished, m.asked, m.answers, m.withdrawn, m.open, m.replays, m.appends, m.refused, m.entries)
	m.begin()
	return m
}

// begin brings in those that alerts are made of: a rate over a counter that
// begins with its first event doesn't see that event.
func (m *Metrics) begin() {
	for _, reason := range []string{conflict, cancelled, full, other} {
		m.refused.of(reason, "")
	}
	for _, result := range []string{whole, brokenOff} {
		m.replays.WithLabelValues(result)
	}
	for _, action := range []ask.Action{ask.Accept, ask.Decline, ask.Cancel} {
		for _, surface := range surfaces {
			m.answers.of(string(action), surface)
		}
	}
	for _, reason := range []log.Reason{log.Expired, log.RunEnded, log.Unsupported, log.Invalid} {
		m.withdrawn.of(reasonLabel(reason), "")
	}
}

// Watch has the engine asked for its counts at every scrape. Call it once.
func (m *Metrics) Watch(e *run.Engine) { m.registry.MustRegister(&counts{engine: e}) }

// namespace is what the names of all metrics begin with.
const namespace = "beam"

func histogram(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(histogramOptions(name, help, buckets...))
}

func histogramOptions(name, help string, buckets ...float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
}

// Values of labels.
const (
	conflict  = "conflict"
	full      = "full"
	inDoubt   = "in_doubt"
	cancelled = "cancelled"
	other     = "other"
	whole     = "whole"
	brokenOff = "broken_off"
)

// Appended implements [run.Meter].
func (m *Metrics) Appended(entries int, took time.Duration, err error) {
	if err != nil {
		m.refused.of(refusal(err), "").Inc()
		return
	}
	m.appends.Observe(took.Seconds())
	m.entries.Add(float64(entries))
}

// refusal is the label for why nothing was recorded.
func refusal(err error) string {
	var behind *log.ConflictError
	switch {
	case errors.As(err, &behind):
		return conflict
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return cancelled
	case errors.Is(err, log.ErrFull):
		return full
	case errors.Is(err, log.ErrInDoubt):
		return inDoubt
	}
	return other
}

// Started implements [run.Meter].
func (m *Metrics) Started(photon, surface string) {
	m.started.of(m.photons.bounded(photon), surfaceLabel(surface)).Inc()
}

// Asked implements [run.Meter].
func (m *Metrics) Asked(kind ask.Kind) { m.asked.of(string(kind), "").Inc() }

// Answered implements [run.Meter].
func (m *Metrics) Answered(action ask.Action, surface string, open time.Duration) {
	m.answers.of(string(action), surfaceLabel(surface)).Inc()
	m.open.Observe(open.Seconds())
}

// Withdrawn implements [run.Meter].
func (m *Metrics) Withdrawn(reason log.Reason, open time.Duration) {
	m.withdrawn.of(reasonLabel(reason), "").Inc()
	m.open.Observe(open.Seconds())
}

// Finished implements [run.Meter].
func (m *Metrics) Finished(photon string, status log.Status) {
	m.finished.of(m.photons.bounded(photon), string(status)).Inc()
}

// Replayed implements [run.Meter].
func (m *Metrics) Replayed(took time.Duration, complete bool) {
	result := whole
	if !complete {
		result = brokenOff
	}
	m.replays.WithLabelValues(result).Observe(took.Seconds())
}

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/rogpeppe/go-internal/testscript"

	dto "github.com/prometheus/client_model/go"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// cmdMetric implements metric ADDRESS NAME VALUE [LABEL=VALUE...], which scrapes a
// server until a metric has a value. The value of a histogram is its count.
func cmdMetric(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: metric address name value label=value...")
	}
	want, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	got := "nothing"
	hasValue := func() bool {
		families, err := scrapeMetrics(args[0])
		ts.Check(err)
		for _, m := range families[args[1]].GetMetric() {
			if !hasLabels(m, args[3:]) {
				continue
			}
			if got = fmt.Sprint(metricValue(m)); metricValue(m) == want {
				return true
			}
		}
		return false
	}
	if !programtest.Poll(hasValue) {
		ts.Fatalf("%s%v of %s is %s, not %v", args[1], args[3:], args[0], got, want)
	}
}

func scrapeMetrics(address string) (map[string]*dto.MetricFamily, error) {
	res, err := http.Get(address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(res.Body)
}

func hasLabels(m *dto.Metric, want []string) bool {
	var got []string
	for _, l := range m.GetLabel() {
		got = append(got, l.GetName()+"="+l.GetValue())
	}
	slices.Sort(want)
	return strings.Join(got, " ") == strings.Join(want, " ")
}

func metricValue(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return m.Gauge.GetValue()
}

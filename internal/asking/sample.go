package asking

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// SampleOf returns the request of a sampling question; nil for other kinds.
func SampleOf(q *askdata.Question) *ask.SampleRequest {
	if q.Sample == nil {
		return nil
	}
	return q.Sample.Request.(*ask.SampleRequest)
}

// NewSample returns a request as a question has it; nil for nil.
func NewSample(request *ask.SampleRequest) *askdata.Sample {
	if request == nil {
		return nil
	}
	return &askdata.Sample{Request: request}
}

package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"
)

// ReplicaHeader is the header of a response with the address of the replica that it comes
// from.
const ReplicaHeader = "X-Replica"

// A Proxy sends each request to any replica, as a load balancer without sticky sessions does.
// It responds with 503 if the request has reached no replica, and with 502 if it may have.
// Its methods may be called by several goroutines.
type Proxy struct {
	reverse   *httputil.ReverseProxy
	transport *http.Transport
	server    *http.Server // nil before Listen

	mu       sync.Mutex
	random   *rand.Rand
	replicas map[string]bool // whether each is ready, by address
}

var _ http.Handler = (*Proxy)(nil)

// NewProxy returns a proxy to no replicas. The seed says in which order it chooses.
func NewProxy(seed uint64) *Proxy {
	p := &Proxy{random: rand.New(rand.NewPCG(seed, 0)), replicas: make(map[string]bool)}
	p.transport = &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, MaxIdleConnsPerHost: 256, DisableCompression: true}
	p.reverse = &httputil.ReverseProxy{Rewrite: rewrite, Transport: roundTripper(p.roundTrip), FlushInterval: -1, ErrorHandler: handleError,
		ErrorLog: log.New(io.Discard, "", 0)} // of replicas that were killed
	return p
}

// Add sends requests to a replica, too, from now on.
func (p *Proxy) Add(address string) { p.setReady(address, true, true) }

// Remove sends no more requests to a replica. Those that it serves go on.
func (p *Proxy) Remove(address string) {
	p.mu.Lock()
	delete(p.replicas, address)
	p.mu.Unlock()
	p.transport.CloseIdleConnections()
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.reverse.ServeHTTP(w, r) }

// Listen serves at an address, such as "127.0.0.1:8080", until Close.
func (p *Proxy) Listen(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go p.server.Serve(l)
	return nil
}

// Close ends all connections.
func (p *Proxy) Close() error {
	defer p.transport.CloseIdleConnections()
	if p.server == nil {
		return nil
	}
	return p.server.Close()
}

// CheckReadiness asks every replica at intervals whether it is ready, until ctx ends. One that
// isn't gets no requests while another is.
func (p *Proxy) CheckReadiness(ctx context.Context, interval time.Duration) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		p.mu.Lock()
		addresses := make([]string, 0, len(p.replicas))
		for a := range p.replicas {
			addresses = append(addresses, a)
		}
		p.mu.Unlock()
		var all sync.WaitGroup
		for _, a := range addresses {
			all.Go(func() { p.setReady(a, isReady(ctx, client, a), false) })
		}
		all.Wait()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func isReady(ctx context.Context, client *http.Client, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// setReady says whether a replica is ready. One that was removed stays so unless add is true.
func (p *Proxy) setReady(address string, ready, add bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.replicas[address]; known || add {
		p.replicas[address] = ready
	}
}

// order returns the replicas in the order in which a request tries them: those that are ready
// first.
func (p *Proxy) order() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ready, others []string
	for address, is := range p.replicas {
		if is {
			ready = append(ready, address)
		} else {
			others = append(others, address)
		}
	}
	for _, s := range [][]string{ready, others} {
		slices.Sort(s) // maps have no order, and the seed must give one
		p.random.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	}
	return append(ready, others...)
}

// rewrite adds what Beam believes of a trusted proxy: X-Forwarded-For, with what the client
// sent of it. Beam sees the client's Host.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme = "http"
	r.Out.Host = r.In.Host
	r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	r.SetXForwarded()
}

// errNoReplica means that a request has reached no replica.
var errNoReplica = errors.New("no replica can be reached")

func handleError(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errNoReplica) {
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}

// roundTripper is a function as an [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// maxRepeatable is the length of the longest body that is sent again if a connection that was
// kept turns out to be closed before anything was written to it.
const maxRepeatable = 64 << 10

// roundTrip sends a request to the first replica that can be reached.
func (p *Proxy) roundTrip(r *http.Request) (*http.Response, error) {
	var small []byte
	if r.Body != nil && r.ContentLength > 0 && r.ContentLength <= maxRepeatable {
		var err error
		if small, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	errs := []error{errNoReplica}
	for _, address := range p.order() {
		attempt := r.Clone(r.Context())
		attempt.URL.Host = address
		switch {
		case small != nil:
			attempt.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(small)), nil }
			attempt.Body, _ = attempt.GetBody()
		case r.Body != nil:
			attempt.Body = io.NopCloser(r.Body) // a dial that fails would close it
		}
		response, err := p.transport.RoundTrip(attempt)
		var failed *net.OpError
		switch {
		case err == nil:
			response.Header.Set(ReplicaHeader, address)
			return response, nil
		case r.Context().Err() != nil || !errors.As(err, &failed) || failed.Op != "dial":
			return nil, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

package tracing

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// settings configure where and how spans are sent.
type settings struct {
	url     string
	headers http.Header
	timeout time.Duration
	gzip    bool
	tls     *tls.Config // nil for the defaults
}

// A variable is one of the standard variables for the exporter (OpenTelemetry
// specification, OTLP exporter configuration).
type variable struct{ name, value string }

// lookUpVariable returns a variable: the one for traces if it is set, or else the
// one for all signals.
func lookUpVariable(name string) variable {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		if v := os.Getenv(prefix + name); v != "" {
			return variable{prefix + name, v}
		}
	}
	return variable{"OTEL_EXPORTER_OTLP_" + name, ""}
}

// errorf returns an error about the variable. It omits the value, which may be a
// secret.
func (v variable) errorf(format string, args ...any) error {
	return fmt.Errorf("%s %s", v.name, fmt.Sprintf(format, args...))
}

// readSettings reads the environment. An error names the invalid variable.
func readSettings() (s settings, err error) {
	if p := lookUpVariable("PROTOCOL"); p.value != "" && p.value != "http/protobuf" {
		return s, p.errorf("must be http/protobuf, the only supported protocol, not %q", p.value)
	}
	z := lookUpVariable("COMPRESSION")
	if s.gzip = z.value == "gzip"; !s.gzip && z.value != "" && z.value != "none" {
		return s, z.errorf("must be gzip or none, not %q", z.value)
	}
	t := lookUpVariable("TIMEOUT")
	ms, err := strconv.Atoi(cmp.Or(t.value, "10000"))
	if err != nil || ms <= 0 {
		return s, t.errorf("must be a number of milliseconds, more than 0")
	}
	s.timeout = time.Duration(ms) * time.Millisecond
	var errs [3]error
	s.url, errs[0] = readEndpoint()
	s.headers, errs[1] = readHeaders()
	s.tls, errs[2] = readTLSConfig()
	return s, errors.Join(errs[:]...)
}

// readEndpoint returns the URL to which spans are posted.
func readEndpoint() (string, error) {
	v := lookUpVariable("ENDPOINT")
	u, err := url.Parse(cmp.Or(v.value, "http://localhost:4318"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", v.errorf("must be an address, such as http://localhost:4318")
	}
	if !strings.HasPrefix(v.name, "OTEL_EXPORTER_OTLP_TRACES_") {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// readHeaders returns additional headers for every request, such as an API key.
func readHeaders() (http.Header, error) {
	h := http.Header{}
	v := lookUpVariable("HEADERS")
	for pair := range strings.SplitSeq(v.value, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, escaped, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(escaped))
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, v.errorf("must be headers, such as name=value,other=value")
		}
		h.Set(name, value)
	}
	return h, nil
}

// readTLSConfig returns the trusted and the client's certificates, or nil for the
// defaults.
func readTLSConfig() (*tls.Config, error) {
	ca, cert, key := lookUpVariable("CERTIFICATE"), lookUpVariable("CLIENT_CERTIFICATE"), lookUpVariable("CLIENT_KEY")
	if ca.value == "" && cert.value == "" && key.value == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca.value != "" {
		pem, err := os.ReadFile(ca.value)
		if err != nil {
			return nil, ca.errorf("can't be read: %v", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, ca.errorf("names a file without a certificate in PEM format")
		}
	}
	if cert.value != "" || key.value != "" {
		pair, err := tls.LoadX509KeyPair(cert.value, key.value)
		if err != nil {
			return nil, cert.errorf("and %s can't be used: %v", key.name, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// writeCertificate writes a certificate of this machine with a serial number, and its key.
func writeCertificate(t *testing.T, dir string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// TestTLS serves over TLS, with cookies that require it, and reads a changed certificate,
// unless that can't be used.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := writeCertificate(t, dir, 1)
	console := programtest.NewConsole()
	p := startProgram(t, func(c *exec.Cmd) { c.Stdout = console }, "beam", "serve", "--memory", "--addr", "127.0.0.1:0", "--print-sign-in", "--tls-cert", certFile, "--tls-key", keyFile)
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	address, err := console.WaitForLine(ctx, "Sign in as its operator, once: ")
	if err != nil || !strings.HasPrefix(address, "https://127.0.0.1:") {
		t.Fatalf("the address is %s, %v", address, err)
	}
	get := func(address string, minVersion uint16) *http.Response {
		t.Helper()
		transport := &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: minVersion}}
		r, err := transport.RoundTrip(must(http.NewRequestWithContext(ctx, http.MethodGet, address, nil)))
		if err != nil {
			if minVersion != tls.VersionTLS11 {
				t.Fatal(err)
			}
			return nil
		}
		r.Body.Close()
		return r
	}
	r := get(address, tls.VersionTLS13)
	if r.StatusCode != http.StatusSeeOther || r.ProtoMajor != 2 || len(r.Cookies()) == 0 {
		t.Fatalf("signing in: %s over %s with %d cookies", r.Status, r.Proto, len(r.Cookies()))
	}
	for _, c := range r.Cookies() {
		if !c.Secure || !c.HttpOnly {
			t.Errorf("the cookie %s is not limited to TLS", c.Name)
		}
	}
	health := strings.Split(address, "/login")[0] + "/healthz"
	if get(health, tls.VersionTLS11) != nil {
		t.Error("TLS 1.1 is served")
	}
	if get(health, tls.VersionTLS12).TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Error("this is another certificate")
	}
	expectSerial := func(want int64) {
		t.Helper()
		for get(health, tls.VersionTLS13).TLS.PeerCertificates[0].SerialNumber.Int64() != want {
			if ctx.Err() != nil {
				t.Fatalf("the certificate %d isn't served", want)
			}
		}
	}
	writeCertificate(t, dir, 2)
	expectSerial(2)
	// Files that can't be used, or are gone, change nothing, until there are good ones.
	if err := errors.Join(os.WriteFile(certFile, []byte("no certificate"), 0o600), os.Remove(keyFile)); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(p.console.String(), "the former one is") {
		expectSerial(2)
	}
	expectSerial(2)
	writeCertificate(t, dir, 3)
	expectSerial(3)
}

func must(r *http.Request, err error) *http.Request {
	if err != nil {
		panic(err)
	}
	return r
}

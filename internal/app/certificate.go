package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A Certificate is a TLS certificate in files, which is read again when they change. It may
// be used from several goroutines.
type Certificate struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	version [2]fileVersion // of the files that were read last
	checked time.Time
}

// A fileVersion changes when a file does.
type fileVersion struct {
	modified time.Time
	size     int64
}

// certificateCheckInterval is how often the files are checked for changes, while somebody
// connects.
const certificateCheckInterval = time.Second

// LoadCertificate reads a certificate and its key from PEM files.
func LoadCertificate(certFile, keyFile string, logger *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, logger: logger}
	c.version, _ = c.readVersion()
	loaded, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate in %s with the key in %s can't be used: %w", certFile, keyFile, err)
	}
	c.loaded, c.checked = &loaded, time.Now()
	return c, nil
}

// Config returns the configuration of a server that has the certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}
}

// current returns the certificate, read again if its files have changed. If they can't be
// used, it logs that, and goes on with the one that it has.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.checked) < certificateCheckInterval {
		return c.loaded
	}
	c.checked = now
	version, err := c.readVersion()
	if err == nil && version == c.version {
		return c.loaded
	}
	loaded, loadErr := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	switch {
	case loadErr == nil:
		c.loaded, c.version = &loaded, version
		c.logger.Info("the TLS certificate was read again")
	case version != c.version: // log each version once: one file may be written before the other
		c.version = version
		c.logger.Error("the changed TLS certificate can't be used; the former one is", "err", loadErr)
	}
	return c.loaded
}

func (c *Certificate) readVersion() (v [2]fileVersion, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return v, err
		}
		v[i] = fileVersion{info.ModTime(), info.Size()}
	}
	return v, nil
}

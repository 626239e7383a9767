package servecmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/webhook"
)

// frontFlags are the flags of what faces browsers and clients.
type frontFlags struct {
	TLSCert          string           `name:"tls-cert" placeholder:"FILE" type:"path" help:"Serve over TLS, with the certificate in this PEM file. It is read again when it changes."`
	TLSKey           string           `name:"tls-key" placeholder:"FILE" type:"path" help:"The private key of --tls-cert, as PEM."`
	Drain            command.Duration `default:"5s" placeholder:"TIME" help:"How long running tools may take to end when Beam is stopped (default ${default})."`
	NotifyWebhook    string           `placeholder:"URL" help:"Tell this URL of each question, once, with a link to answer it. Requires --notify-secret-file, or the secret in $$BEAM_NOTIFY_SECRET."`
	NotifySecret     string           `hidden:"" help:"The secret of the webhook."`
	NotifySecretFile string           `placeholder:"FILE" type:"path" help:"File of the secret with which notices to --notify-webhook are signed (Standard Webhooks)."`
	PrintSignIn      bool             `help:"Print the sign-in address of the operator even if stdout isn't a terminal. Who can read what is printed can then sign in."`
}

func (f *frontFlags) validate() error {
	if (f.TLSCert == "") != (f.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together: give both, or neither")
	}
	return nil
}

// webhook returns the webhook that the flags name.
func (f *frontFlags) webhook() (w app.Webhook, err error) {
	w = app.Webhook{URL: f.NotifyWebhook, Secret: f.NotifySecret}
	if f.NotifyWebhook == "" {
		return w, nil
	}
	if err := webhook.CheckURL(f.NotifyWebhook); err != nil {
		return w, fmt.Errorf("--notify-webhook %w", err) // without the URL, which may be a secret
	}
	if f.NotifySecretFile != "" {
		raw, err := os.ReadFile(f.NotifySecretFile)
		if err != nil {
			return w, fmt.Errorf("--notify-secret-file: %w", err)
		}
		w.Secret = strings.TrimSpace(string(raw))
	}
	if w.Secret == "" {
		return w, errors.New("--notify-webhook requires --notify-secret-file, or the secret in $BEAM_NOTIFY_SECRET")
	}
	return w, nil
}

func (f *frontFlags) scheme() string {
	if f.TLSCert != "" {
		return "https"
	}
	return "http"
}

// serveOptions returns how to serve. The error says what is wrong with the certificate.
func (f *frontFlags) serveOptions(c app.Config) (o app.ServeOptions, err error) {
	o = app.ServeOptions{Drain: time.Duration(f.Drain)}
	if f.TLSCert != "" {
		if o.Certificate, err = app.LoadCertificate(f.TLSCert, f.TLSKey, c.Logger); err != nil {
			return o, fmt.Errorf("--tls-cert: %w", err)
		}
	}
	return o, nil
}

package dev

import (
	"context"
	"errors"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/links"
)

// errorPage says why the program doesn't run. It loads itself again until it does.
var errorPage = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="1">
<title>{{.Title}} · beam dev</title></head>
<body style="font: 1rem/1.5 system-ui, sans-serif; margin: 2rem">
<h1>{{.Title}}</h1>
<pre style="overflow: auto; font-size: .9rem" tabindex="0">{{.Text}}</pre>
<p>Save a file, and the program is built again. This page returns by itself.</p>
</body></html>
`))

// A failure is why the program doesn't run.
type failure struct{ Title, Text string }

// reloadEvent has a page of the program that wants its updates load again, so that it shows
// the failure.
const reloadEvent = "event: datastar-patch-elements\ndata: selector body\ndata: mode append\ndata: elements <div data-init=\"window.location.reload()\"></div>\n\n"

// ServeHTTP serves the failure at every address.
func (f failure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !links.IsLoopback(host): // a page of another site whose name leads here
		http.Error(w, "The host must be that of this machine.", http.StatusForbidden)
	case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream") && r.Header.Get("Datastar-Request") != "":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(reloadEvent))
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = errorPage.Execute(w, f)
	default:
		http.Error(w, f.Title+"\n\n"+f.Text, http.StatusServiceUnavailable)
	}
}

// serve serves the failure at an address until ctx ends.
func (f failure) serve(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

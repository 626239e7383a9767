package datafolder

import (
	"crypto/rand"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A program that opens a browser passes it an address as an argument, which other users can
// read. So that they can't read sign-in codes, the address is that of a file which only the
// user can read, and which leads the browser on.

// redirectPrefix begins the names of these files, in the data folder.
const redirectPrefix = "sign-in-"

// RedirectLifetime is how long such a file is kept: browsers may take a while to start.
const RedirectLifetime = time.Minute

// WriteRedirect writes a page that leads a browser to an address to a new file in a data
// folder, and returns the URL of the file. The process that owns the folder removes it.
func WriteRedirect(dir, address string) (string, error) {
	path := filepath.Join(dir, redirectPrefix+rand.Text()+".html")
	target := html.EscapeString(address)
	page := fmt.Sprintf("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"+
		"<title>Signing in</title>\n<p><a href=\"%s\">Sign in to Beam</a></p>\n", target, target)
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return "", fmt.Errorf("can't write the page that opens the browser: %w", err)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/...
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

// RemoveRedirect removes the file with a URL that [WriteRedirect] has returned.
func RemoveRedirect(file string) {
	if u, err := url.Parse(file); err == nil {
		_ = os.Remove(filepath.FromSlash(u.Path)) // who owns the folder also removes it
	}
}

// RemoveRedirects removes the redirect files in a data folder that are older than age.
func RemoveRedirects(dir string, age time.Duration) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), redirectPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next attempt removes it
		}
	}
}

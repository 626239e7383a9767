package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/photon-beam/beam"
)

// people are those who may sign in. They stand for the accounts that your server has.
type people struct {
	tools     string
	passwords map[string]string // by name

	mu       sync.Mutex
	sessions map[string]string // names, by what the cookie holds
}

// newPeople gives each person a password for as long as the program runs.
func newPeople(tools string, names ...string) *people {
	p := &people{tools: tools, passwords: map[string]string{}, sessions: map[string]string{}}
	for _, name := range names {
		p.passwords[name] = rand.Text()
	}
	return p
}

func (p *people) print(w io.Writer) {
	for name, password := range p.passwords {
		fmt.Fprintf(w, "%s signs in with %s\n", name, password)
	}
}

var errSignedOut = errors.New("sign in first")

// identify tells Beam who sends a request: a browser with the server's own cookie, or an
// MCP client with a person's password as its token.
func (p *people) identify(r *http.Request) (beam.Caller, error) {
	name := p.personOf(r)
	if name == "" {
		return beam.Caller{}, errSignedOut
	}
	return beam.Caller{ID: "person:" + name, Name: strings.ToUpper(name[:1]) + name[1:]}, nil
}

const cookieName = "embed_session"

// personOf returns the name of the person who sends a request, or "".
func (p *people) personOf(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		for name, password := range p.passwords {
			if token == password {
				return name
			}
		}
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[cookie.Value]
}

// signIn begins a session.
func (p *people) signIn(w http.ResponseWriter, r *http.Request) {
	name := r.PostFormValue("name")
	if password, known := p.passwords[name]; !known || r.PostFormValue("password") != password {
		http.Error(w, "The name or the password is wrong.", http.StatusForbidden)
		return
	}
	session := rand.Text()
	p.mu.Lock()
	p.sessions[session] = name
	p.mu.Unlock()
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.tools, "https:"),
	})
	http.Redirect(w, r, p.tools+"/", http.StatusSeeOther)
}

var home = template.Must(template.New("home").Parse(`<!DOCTYPE html>
<html lang="en">
<title>Dinner</title>
<link rel="icon" href="data:,">
{{if .Name}}<p>Hello, {{.Name}}. Here are your <a href="{{.Tools}}/">tools</a>.</p>
{{else}}<form method="post" action="/sign-in">
<label>Name <input name="name"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign in</button>
</form>
{{end}}`))

// serveHome serves the server's own page.
func (p *people) serveHome(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = home.Execute(w, map[string]string{"Name": p.personOf(r), "Tools": p.tools})
}

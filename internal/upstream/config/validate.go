package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxName bounds a server's name, which is part of its tools' names.
const maxName = 32

var namePattern = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

// CheckName returns an error if name can't be a server's. The names of its tools
// begin with it and two underscores, so it has no two in a row, and none at its
// ends.
func CheckName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("the name has %d characters, more than %d", len(name), maxName)
	}
	if !namePattern.MatchString(name) || name[0] == '-' {
		return fmt.Errorf("a server's name has the characters A-Z a-z 0-9 - _, with no _ beside another or at an end and no - at the start: rename it")
	}
	return nil
}

// transportTypes are the values of type, in all clients, and what they mean.
var transportTypes = map[string]string{
	"stdio": Stdio, "local": Stdio,
	"http": HTTP, "streamable-http": HTTP, "streamableHttp": HTTP, "remote": HTTP,
	"sse": SSE,
}

// validate checks what decode has read, and sets what follows from it.
func (d *decoder) validate() {
	switch hasCommand, hasURL := d.seen["command"], d.seen["url"] || d.seen["serverUrl"] || d.seen["httpUrl"]; {
	case hasCommand && hasURL:
		d.problemf("", "has both a command and a url: a server is started or connected to")
	case !hasCommand && !hasURL:
		d.problemf("", "has neither a command nor a url")
	case hasCommand:
		d.setType(Stdio, Stdio)
		d.validateCommand()
	default:
		d.setType(HTTP, HTTP, SSE)
		d.validateURL()
	}
	d.validatePolicy()
}

// setType replaces the type by its canonical name, which must be among allowed.
func (d *decoder) setType(byDefault string, allowed ...string) {
	known, ok := transportTypes[cmp.Or(d.server.Type, byDefault)]
	if !ok || !slices.Contains(allowed, known) {
		d.problemf("type", "must be %s here, not %q", strings.Join(allowed, " or "), d.server.Type)
	}
	d.server.Type = known
}

func (d *decoder) validateCommand() {
	s := &d.server
	s.Cwd = d.absolute(s.Cwd)
	if s.Command == "" && len(d.problems) == 0 {
		d.problemf("command", "is empty")
	}
	for _, text := range append([]string{s.Command, s.Cwd}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			d.problemf("command", "contains a NUL character")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(s.Env[name], 0) {
			d.problemf("env", "%q can't be a variable: a name has no = and neither it nor its value a NUL character", name)
		}
	}
	if len(s.Headers) > 0 {
		d.problemf("headers", "a server that is started has none: give it env instead")
	}
}

// transportHeaders are set by the transport.
var transportHeaders = []string{"accept", "connection", "content-length", "content-type", "host", "last-event-id", "transfer-encoding"}

func (d *decoder) validateURL() {
	s := &d.server
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "" && len(d.problems) > 0: // the field couldn't be read
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		d.problemf("url", "must be the http or https URL of an MCP server, such as https://mcp.example/mcp")
	case u.User != nil:
		d.problemf("url", "has a user name or password: put them into headers")
	case u.Fragment != "":
		d.problemf("url", "has a fragment (#…), which no server receives")
	case u.Scheme == "http" && len(s.Headers) > 0 && !isLoopback(u.Hostname()):
		s.Warnings = append(s.Warnings, "its headers are sent unencrypted: its url is not https")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		switch lower := strings.ToLower(name); {
		case !httpguts.ValidHeaderFieldName(name):
			d.problemf("headers", "%q can't be a header's name", name)
		case slices.Contains(transportHeaders, lower) || strings.HasPrefix(lower, "mcp-"):
			d.problemf("headers", "Beam sets %s itself", name)
		case !httpguts.ValidHeaderFieldValue(s.Headers[name]):
			d.problemf("headers "+name, "the value has characters that a header can't have")
		}
	}
	if len(s.Env) > 0 || len(s.Args) > 0 || s.Cwd != "" {
		s.Ignored = append(s.Ignored, "args, env or cwd, since it is not started")
	}
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && net.IP(addr.AsSlice()).IsLoopback()
}

func (d *decoder) validatePolicy() {
	p := &d.server.Policy
	p.Record = cmp.Or(p.Record, RecordAll)
	if !slices.Contains([]Record{RecordNothing, RecordMetadata, RecordAll}, p.Record) {
		d.problemf("record", "must be nothing, metadata or all, not %q", p.Record)
	}
	p.Sensitive = cmp.Or(p.Sensitive, RefuseSensitive)
	if !slices.Contains([]Sensitive{RefuseSensitive, WarnSensitive, AllowSensitive}, p.Sensitive) {
		d.problemf("sensitive", "must be refuse, warn or allow, not %q", p.Sensitive)
	}
	p.Parallel = cmp.Or(p.Parallel, ParallelShared)
	if !slices.Contains([]Parallel{ParallelShared, ParallelSeparate, ParallelNever}, p.Parallel) {
		d.problemf("parallel", "must be shared, separate or never, not %q", p.Parallel)
	}
	for _, l := range []struct {
		field string
		texts []string
	}{{"allow", p.Allow}, {"deny", p.Deny}, {"roles", p.Roles}} {
		if slices.Contains(l.texts, "") {
			d.problemf(l.field, "has an empty string")
		}
	}
}

package upstream

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"golang.org/x/net/idna"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/mcp/message"
)

// checkURL returns the address that a person is sent to, with its host in ASCII, and what the
// person should know of it; or the error for an address to which nobody is sent.
func (qs *questions) checkURL(address string) (checked, warning string, refused *message.Error) {
	refuse := func(format string, args ...any) (string, string, *message.Error) {
		return "", "", message.Errorf(mcp.INVALID_PARAMS, "the url "+format, args...)
	}
	if cleantext.Line(address) != address {
		return refuse("must not have control characters or invisible ones")
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Hostname() == "":
		return refuse("must be an http or https address")
	case parsed.User != nil:
		return refuse("must not have user information")
	}
	host, warning, err := checkHost(parsed.Hostname())
	if err != nil {
		return refuse("must have a valid host: %v", err)
	}
	if host != parsed.Hostname() {
		parsed.Host = strings.Replace(parsed.Host, parsed.Hostname(), host, 1)
		address = parsed.String()
	}
	if own := qs.isOwnAddress; own != nil && own(parsed) {
		return refuse("must not be one of this Beam")
	}
	return address, warning, nil
}

// numberPattern matches the last part of a host that browsers take for an IPv4 address.
var numberPattern = regexp.MustCompile(`^(?i:0x[0-9a-f]*|[0-9]+)\.?$`)

// checkHost returns a host in ASCII. The warning says how it is written otherwise, since
// letters of several alphabets look alike.
func checkHost(host string) (ascii, warning string, err error) {
	if strings.Contains(host, ":") { // an IPv6 address
		return host, "", nil
	}
	last := host[strings.LastIndexByte(strings.TrimSuffix(host, "."), '.')+1:]
	if _, err := netip.ParseAddr(host); err != nil && numberPattern.MatchString(last) { // browsers read 127.1 as 127.0.0.1
		return "", "", fmt.Errorf("%q isn't one", cleantext.Text(host))
	}
	isForeign := strings.ContainsFunc(host, func(r rune) bool { return r > '~' })
	if !isForeign && !strings.Contains(strings.ToLower(host), "xn--") {
		return host, "", nil
	}
	if ascii, err = idna.Lookup.ToASCII(host); err != nil {
		return "", "", fmt.Errorf("%q isn't one", cleantext.Text(host))
	}
	written, err := idna.Lookup.ToUnicode(ascii)
	if err != nil {
		return "", "", fmt.Errorf("%q isn't one", cleantext.Text(host))
	}
	if written == ascii {
		return ascii, "", nil
	}
	return ascii, fmt.Sprintf("Look closely at the address: its host is %s, which is written %s. It may only look like one that you know.", ascii, cleantext.Text(written)), nil
}

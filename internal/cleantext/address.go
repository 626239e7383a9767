package cleantext

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Address returns an address with what is invisible or could reorder the text around it
// percent-encoded, as browsers send it.
func Address(address string) string {
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// AddressCautions returns what a person should know about an http or https address before
// opening it, in sentences; none of another address. They may have any text of the address,
// which the caller makes safe to show.
func AddressCautions(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	var list []string
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	isLocal := host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.Unmap().IsLoopback()
	if u.User != nil {
		list = append(list, "The text before the @ is not the site. The site is "+u.Host+".")
	}
	if strings.Contains("."+host, ".xn--") || strings.ContainsFunc(host, func(r rune) bool { return r > 127 }) {
		list = append(list, "The site's name contains letters that can look like others.")
	}
	switch last := host[strings.LastIndexByte(host, '.')+1:]; {
	case isLocal:
		list = append(list, "The site is on the machine whose browser opens it.")
	case err == nil, last != "" && strings.Trim(last, "0123456789") == "", strings.HasPrefix(last, "0x"): // browsers read 0x7f.1 as an address
		list = append(list, "The site has a number instead of a name, which doesn't say whose it is.")
	}
	if _, port, err := net.SplitHostPort(u.Host); err == nil && !isLocal && port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		list = append(list, "The site is at an unusual port, "+port+".")
	}
	if u.Scheme == "http" && !isLocal {
		list = append(list, "The connection to this site is not encrypted.")
	}
	return list
}

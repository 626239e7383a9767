package catalogue_test

import (
	"regexp"
	"testing"

	"github.com/photon-beam/beam/internal/mcp/catalogue"
)

func TestNamesThatEveryModelAPIAllows(t *testing.T) {
	allowed := regexp.MustCompile(`^[A-Za-z0-9_-]{1,50}$`)
	seen := map[string]string{}
	for own, want := range map[string]string{
		"echo":      "files__echo",
		"read.file": "files__read_file",
		"größe":     "files__gr__e",
		"list/all":  "files__list_all",
		"a_name_that_fits_just_within_the_limit_of_5":       "files__a_name_that_fits_just_within_the_limit_of_5",
		"a_name_that_is_longer_than_the_limit_of_fifty_one": "files__a_name_that_is_longer_than_the_lim_",
		"a_name_that_is_longer_than_the_limit_of_fifty_two": "files__a_name_that_is_longer_than_the_lim_",
	} {
		got := catalogue.JoinName("files", own)
		if !allowed.MatchString(got) {
			t.Errorf("%s is %q", own, got)
		}
		if len(got) < len(want) || got[:len(want)] != want || len(got) != len(want) && len(got) != catalogue.MaxNameLen {
			t.Errorf("%s is %q, want %q", own, got, want)
		}
		if seen[got] != "" {
			t.Errorf("%s and %s are both %s", own, seen[got], got)
		}
		seen[got] = own
	}
}

func TestAddressesOfUserInterfaces(t *testing.T) {
	joined := catalogue.JoinUI("weather", "ui://map/view.html?x=1")
	if joined != "ui://weather/map/view.html?x=1" {
		t.Errorf("the address is %s", joined)
	}
	server, own, ok := catalogue.SplitUI(joined)
	if server != "weather" || own != "ui://map/view.html?x=1" || !ok {
		t.Errorf("split: %s, %s, %v", server, own, ok)
	}
	if joined := catalogue.JoinUI("weather", "UI://Map"); joined != "UI://weather/Map" {
		t.Errorf("in capital letters, the address is %s", joined)
	}
	if server, own, ok := catalogue.SplitUI("UI://weather/Map"); server != "weather" || own != "UI://Map" || !ok {
		t.Errorf("in capital letters, split: %s, %s, %v", server, own, ok)
	}
	if got := catalogue.JoinUI("weather", "file:///x"); got != "file:///x" {
		t.Errorf("another scheme's address is %s", got)
	}
	for _, uri := range []string{"ui://weather", "file:///weather/x", ""} {
		if _, _, ok := catalogue.SplitUI(uri); ok {
			t.Errorf("%q is split", uri)
		}
	}
}

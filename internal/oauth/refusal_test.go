package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/oauth"
)

func TestToken(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer abc.DEF-123_~+/==": "abc.DEF-123_~+/==", "bearer abc": "abc", "BEARER abc": "abc",
	} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Authorization", header)
		if got, err := oauth.Token(r); got != want || err != nil {
			t.Errorf("%q is %q, %v", header, got, err)
		}
	}
	for header, status := range map[string]int{
		"": 401, "Basic YTpi": 401, "abc": 401, "Bearerabc": 401,
		"Bearer": 400, "Bearer ": 400, "Bearer  abc": 400, "Bearer a b": 400, "Bearer a,b": 400, "Bearer =": 400, "Bearer a=b": 400, `Bearer "a"`: 400, "Bearer " + strings.Repeat("a", 20_000): 400,
	} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		_, err := oauth.Token(r)
		expectRefusal(t, err, status, map[int]string{400: "invalid_request"}[status], "")
	}
}

func TestCheckRequest(t *testing.T) {
	r := httptest.NewRequest("POST", "/mcp?access_token=x", nil)
	expectRefusal(t, oauth.CheckRequest(r), http.StatusBadRequest, "invalid_request", "not in the URL")
	r = httptest.NewRequest("POST", "/mcp", nil)
	r.Header["Authorization"] = []string{"Bearer a", "Bearer b"}
	expectRefusal(t, oauth.CheckRequest(r), http.StatusBadRequest, "invalid_request", "more than one")
	r.Header["Authorization"] = []string{"Bearer a"}
	if err := oauth.CheckRequest(r); err != nil {
		t.Error(err)
	}
}

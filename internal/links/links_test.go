package links

import "testing"

func TestLinks(t *testing.T) {
	for _, base := range []Base{"", "/beam", "https://example.com/beam"} {
		for got, want := range map[string]string{
			base.Home():                      "/",
			base.Search("files__"):           "/?q=files__",
			base.StartRun("a/b"):             "/photons/a%2Fb/runs",
			base.RunMessage("7f", 3):         "/runs/7f/messages/3",
			base.ExportRun("7f", "html"):     "/runs/7f/export?format=html",
			base.Doc("photons"):              "/docs/photons",
			base.RunEvents("7f"):             "/runs/7f/events",
			base.OperateRun("7f", "cancel"):  "/runs/7f/cancel",
			base.OperateRun("7f", "adopt"):   "/runs/7f/adopt",
			base.Logout():                    "/logout",
			base.Artifact("7f", 3):           "/runs/7f/artifacts/3",
			base.Ask("7f.3"):                 "/asks/7f.3",
			base.AnswerAsk("7f.3", "accept"): "/mcp/request?ask=7f.3&action=accept",
			base.Updates("asks"):             "/updates?page=asks",
			base.LoginThen("/runs?x=1"):      "/login?next=%2Fruns%3Fx%3D1",
			base.SignIn("C", ""):             "/login?code=C",
			base.SignIn("C", "/asks"):        "/login?code=C&next=%2Fasks",
		} {
			if got != string(base)+want {
				t.Errorf("got %s, want %s", got, string(base)+want)
			}
		}
	}
}

func TestContext(t *testing.T) {
	if b := FromContext(t.Context()); b != "" {
		t.Errorf("without a base: %q", b)
	}
	if b := FromContext(WithBase(t.Context(), "/beam")); b != "/beam" {
		t.Errorf("got %q", b)
	}
}

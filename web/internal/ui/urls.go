package ui

import (
	"context"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/medium"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// The URLs of pages. Their base is that of the context which renders the page.

func homeURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Home())
}

func searchURL(ctx context.Context, words string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Search(words))
}

// homePageURL returns the address of the page of photons that follows one.
func homePageURL(ctx context.Context, p HomePage, after string) templ.SafeURL {
	query := url.Values{}
	if p.Query != "" {
		query.Set("q", p.Query)
	}
	if after != "" {
		query.Set("after", after)
	}
	return withQuery(homeURL(ctx), query.Encode())
}

func photonURL(ctx context.Context, name string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Photon(name))
}

func startRunURL(ctx context.Context, photon string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).StartRun(photon))
}

func runsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Runs())
}

func runURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Run(id))
}

func settingsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Settings())
}

func findURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Find())
}

func runMessagesURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).RunMessages(id))
}

func deleteRunURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).DeleteRun(id))
}

func exportRunURL(ctx context.Context, id, format string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).ExportRun(id, format))
}

// rowsBeforeURL returns the URL of a page of the run's rows before an entry.
func rowsBeforeURL(ctx context.Context, r *timeline.Run, seq uint64) templ.SafeURL {
	return runURL(ctx, r.ID) + templ.SafeURL("?before="+strconv.FormatUint(seq, 10))
}

// rowsAfterURL returns the URL of a page of the run's rows after an entry.
func rowsAfterURL(ctx context.Context, r *timeline.Run, seq uint64) templ.SafeURL {
	return runURL(ctx, r.ID) + templ.SafeURL("?after="+strconv.FormatUint(seq, 10))
}

func cancelRunURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).CancelRun(id))
}

func replayRunURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).ReplayRun(id))
}

func adoptRunURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).AdoptRun(id))
}

// downloadURL returns the URL of an artifact's content.
func downloadURL(ctx context.Context, r *timeline.Run, i *timeline.Item) templ.SafeURL {
	if medium.Of(ctx) == medium.Export {
		return artifacts.DataURL(i.Artifact)
	}
	return templ.SafeURL(links.FromContext(ctx).Artifact(r.ID, i.Seq))
}

// resultURL returns the URL of a run's result.
func resultURL(ctx context.Context, r *timeline.Run) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Result(r.ID))
}

func inboxURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Inbox())
}

func askURL(ctx context.Context, id string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Ask(id))
}

// answerPageURL returns the URL of the page on which a listed question is answered.
func answerPageURL(ctx context.Context, a engine.OpenAsk) templ.SafeURL {
	if a.AskOnly {
		return askURL(ctx, a.ID)
	}
	return runURL(ctx, a.Run) + templ.SafeURL("#"+askElementID(a.ID))
}

// evidenceURL returns the URL of the content of an artifact that a question shows, the nth.
func evidenceURL(ctx context.Context, ask string, n int, a *generators.Artifact) templ.SafeURL {
	if medium.Of(ctx) == medium.Export {
		return artifacts.DataURL(a)
	}
	return templ.SafeURL(links.FromContext(ctx).Evidence(sanitizeID(ask), n))
}

// answerURL returns the URL that a question's form is posted to.
func answerURL(ctx context.Context, v *askView, action string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).AnswerAsk(sanitizeID(v.ID), action))
}

// samplingURL returns the URL that a form about a request to a model is posted to.
func samplingURL(ctx context.Context, v *askView, action string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Sampling(sanitizeID(v.ID), action))
}

// loginOpenIDURL returns the URL that signs in with an identity provider and leads to next.
func loginOpenIDURL(ctx context.Context, next string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).LoginOpenID(next))
}

func accountURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Account())
}

func modelsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Models())
}

func revokeURL(ctx context.Context, standing int) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).RevokeStanding(standing))
}

func upstreamsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Upstreams())
}

func upstreamURL(ctx context.Context, name string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Upstream(name))
}

// operateUpstreamURL returns the URL to post to, to do something with an upstream.
func operateUpstreamURL(ctx context.Context, name, action string) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).OperateUpstream(name, action))
}

func loginURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Login())
}

func logoutURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Logout())
}

// fragmentURL returns the URL of an element of the page.
func fragmentURL(id string) templ.SafeURL { return templ.SafeURL("#" + id) }

func docsURL(ctx context.Context) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).Docs())
}

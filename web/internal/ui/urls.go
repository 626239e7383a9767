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

// site returns the URLs of pages. Their base is that of the context which renders the page.
func site(ctx context.Context) links.Base { return links.FromContext(ctx) }

// homePageURL returns the address of the page of photons that follows one.
func homePageURL(ctx context.Context, p HomePage, after string) string {
	query := url.Values{}
	if p.Query != "" {
		query.Set("q", p.Query)
	}
	if after != "" {
		query.Set("after", after)
	}
	return withQuery(site(ctx).Home(), query.Encode())
}

// rowsBeforeURL returns the URL of a page of the run's rows before an entry.
func rowsBeforeURL(ctx context.Context, r *timeline.Run, seq uint64) string {
	return site(ctx).Run(r.ID) + "?before=" + strconv.FormatUint(seq, 10)
}

// rowsAfterURL returns the URL of a page of the run's rows after an entry.
func rowsAfterURL(ctx context.Context, r *timeline.Run, seq uint64) string {
	return site(ctx).Run(r.ID) + "?after=" + strconv.FormatUint(seq, 10)
}

// downloadURL returns the URL of an artifact's content.
func downloadURL(ctx context.Context, r *timeline.Run, i *timeline.Item) templ.SafeURL {
	if medium.Of(ctx) == medium.Export {
		return artifacts.DataURL(i.Artifact)
	}
	return templ.SafeURL(site(ctx).Artifact(r.ID, i.Seq))
}

// resultURL returns the URL of a run's result.
func resultURL(ctx context.Context, r *timeline.Run) templ.SafeURL {
	return templ.SafeURL(site(ctx).Result(r.ID))
}

// answerPageURL returns the URL of the page on which a listed question is answered.
func answerPageURL(ctx context.Context, a engine.OpenAsk) string {
	if a.AskOnly {
		return site(ctx).Ask(a.ID)
	}
	return site(ctx).Run(a.Run) + "#" + askElementID(a.ID)
}

// evidenceURL returns the URL of the content of an artifact that a question shows, the nth.
func evidenceURL(ctx context.Context, ask string, n int, a *generators.Artifact) templ.SafeURL {
	if medium.Of(ctx) == medium.Export {
		return artifacts.DataURL(a)
	}
	return templ.SafeURL(site(ctx).Evidence(sanitizeID(ask), n))
}

// answerURL returns the URL that a question's form is posted to.
func answerURL(ctx context.Context, v *askView, action string) string {
	return site(ctx).AnswerAsk(sanitizeID(v.ID), action)
}

// samplingURL returns the URL that a form about a request to a model is posted to.
func samplingURL(ctx context.Context, v *askView, action string) string {
	return site(ctx).Sampling(sanitizeID(v.ID), action)
}

// fragmentURL returns the URL of an element of the page.
func fragmentURL(id string) string { return "#" + id }

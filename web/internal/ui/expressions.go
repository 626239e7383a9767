package ui

import (
	"context"
	"fmt"
	"strconv"

	"github.com/photon-beam/beam/web/internal/timeline"
)

// The expressions that Datastar evaluates. No text of a photon or person is part of one.

// followExpression returns the expression that opens the stream of a run's page after
// the last entry that the page shows. When Datastar reconnects, it sends the last event
// id in a header, which distinguishes a reconnecting page from a new one.
func followExpression(ctx context.Context, r *timeline.Run) string {
	return "@get('" + site(ctx).RunEvents(sanitizeID(r.ID)) + "?after=" + strconv.FormatUint(r.LastSeq, 10) +
		"',{retry:'always',retryInterval:300,retryMaxCount:Infinity,requestCancellation:'cleanup'})"
}

// updatesExpression returns the expression that opens the stream of a page with a list.
// Page names the list and must not come from a user.
func updatesExpression(ctx context.Context, page string) string {
	return "@get('" + site(ctx).Updates(page) + "',{retry:'always',retryInterval:300,retryMaxCount:Infinity})"
}

// queryUpdatesExpression is [updatesExpression] for a list that the query of the page's
// address selects. The browser adds it, since it may have a person's text.
func queryUpdatesExpression(ctx context.Context, page string) string {
	return "@get('" + site(ctx).Updates(page) + "' + location.search.replace('?', '&'),{retry:'always',retryInterval:300,retryMaxCount:Infinity})"
}

// connectionSignals declares the signals of a page's stream: _disconnected, and
// _reconnecting, which the server sets before an expected reconnection so that the page
// doesn't report it.
const connectionSignals = "{_disconnected: false, _reconnecting: false}"

// connectionExpression sets _disconnected when the stream breaks. The server resets it.
const connectionExpression = "evt.detail.el === el && (evt.detail.type === 'retrying' || evt.detail.type === 'error') && ($_reconnecting ? $_reconnecting = false : $_disconnected = true)"

// sentOnce are the options of a request that is sent once. Datastar repeats a request that
// the network has failed, whatever retry says, unless retryMaxCount is 0.
const sentOnce = "contentType:'form',retry:'never',retryMaxCount:0"

// postOnce returns the expression that posts a form once. Script that waits too long for
// the response aborts the request; no field can have the name of the property.
func postOnce(url string) string {
	return "@post('" + url + "',{" + sentOnce + ",requestCancellation:el['beam:request']=new AbortController()}).catch(() => {})"
}

// findPhotonsExpression returns the expression that lists the photons that match what is
// typed in the bar, and that makes the page's address lead to them.
func findPhotonsExpression(ctx context.Context) string {
	home := site(ctx).Home()
	return "evt.target.id === 'find' && (history.replaceState(null, '', evt.target.value.trim() ? '" + home + "?q=' + encodeURIComponent(evt.target.value.trim()) : '" + home + "'), " +
		"@get('" + home + "',{selector:'form.find'," + sentOnce + "}).catch(() => {}))"
}

func stopExpression(ctx context.Context, r *timeline.Run) string {
	return postOnce(site(ctx).OperateRun(sanitizeID(r.ID), "cancel"))
}

// postExpression returns the expression that submits a question's form unless a
// submission is in flight, which the signal named busySignal says.
func postExpression(ctx context.Context, v *askView, action string) string {
	return "$" + v.busySignal() + " || " + postOnce(answerURL(ctx, v, action))
}

// samplingExpression is [postExpression] for a form about a request to a model.
func samplingExpression(ctx context.Context, v *askView, action string) string {
	return "$" + v.busySignal() + " || " + postOnce(samplingURL(ctx, v, action))
}

// previewExpression returns the expression that shows what a form about a request to a model
// would send.
func previewExpression(ctx context.Context, v *askView) string {
	return "@post('" + samplingURL(ctx, v, "preview") + "',{" + sentOnce + ",requestCancellation:'cleanup'}).catch(() => {})"
}

// showExpression returns the expression that shows a postponed question again.
func showExpression(a *timeline.Ask) string {
	return "document.getElementById('" + askElementID(a.ID) + "')?.show()"
}

// startClockExpression and clockExpression advance the elapsed time between patches.
func startClockExpression(r *timeline.Run) string {
	return fmt.Sprintf("$_start = Date.now() - %d; $_ms = Date.now() - $_start", elapsedSince(r.Started, r.Ended).Milliseconds())
}

const clockExpression = "(s => (s >= 3600 ? Math.floor(s / 3600) + ':' + String(Math.floor(s / 60) % 60).padStart(2, '0') : Math.floor(s / 60)) + ':' + String(s % 60).padStart(2, '0'))(Math.floor(($_ms ?? 0) / 1000))"

package mcp

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
)

// upstreamCursor begins the cursors of pages of what upstreams offer; their number
// follows. It is no cursor of mcp-go's, which are base64.
const upstreamCursor = "upstreams:"

// serveList serves a list: what mcp-go's server has itself, and on the pages that follow
// what upstreams offer.
func (s *Server) serveList(rc *requestContext, m msg.Incoming, list catalogue.List) reply {
	var params struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(m.Params, &params) // mcp-go refuses what has another type
	items := s.upstreams.Items(list, s.only, rc.client.caller)
	if number, ok := strings.CutPrefix(params.Cursor, upstreamCursor); ok {
		from, err := strconv.Atoi(number)
		if err != nil || from < 0 || from > len(items) {
			return errorReply(m.ID, msg.Errorf(mcp.INVALID_PARAMS, "cursor is not from this list: start without one"))
		}
		return s.listReply(rc, m, list, items, from)
	}
	own := s.serveByLibrary(rc, m)
	if own.code != 0 || own.message == nil {
		return own
	}
	var response struct {
		Result json.RawMessage `json:"result"`
	}
	var page map[string]json.RawMessage
	if json.Unmarshal(own.message, &response) != nil || json.Unmarshal(response.Result, &page) != nil || page["nextCursor"] != nil || len(items) == 0 {
		return own
	}
	var listed []json.RawMessage
	if json.Unmarshal(page[list.Member()], &listed) != nil {
		return own
	}
	members := map[string]any{list.Member(): append(listed, items[:min(len(items), listPageSize)]...)}
	if len(items) > listPageSize {
		members["nextCursor"] = upstreamCursor + strconv.Itoa(listPageSize)
	}
	return reply{message: msg.EncodeResult(m.ID, msg.WithMembers(response.Result, members))}
}

// listReply returns a page of what upstreams offer.
func (s *Server) listReply(rc *requestContext, m msg.Incoming, list catalogue.List, items []json.RawMessage, from int) reply {
	to := min(from+listPageSize, len(items))
	members := map[string]any{list.Member(): append([]json.RawMessage{}, items[from:to]...)}
	if to < len(items) {
		members["nextCursor"] = upstreamCursor + strconv.Itoa(to)
	}
	result := addCacheHints(rc.client, msg.Compacted(members))
	return reply{message: msg.EncodeResult(m.ID, s.newResultBase(rc.client, "complete").AddTo(result))}
}

// watchUpstreams notifies clients of what upstreams announce.
func (s *Server) watchUpstreams() {
	if s.upstreams == nil {
		return
	}
	s.unwatchServers = s.upstreams.Watch(func(method, server, uri string) {
		switch {
		case s.only == "":
			s.changes.Report(method, catalogue.JoinUI(server, uri))
		case s.only == server:
			s.changes.Report(method, uri)
		}
	})
}

// subscribeUpstreams subscribes to the resources of upstreams among those that a modern
// client wants to be notified of.
func (s *Server) subscribeUpstreams(rc *requestContext, wanted *changes.Subscription) {
	if s.upstreams == nil {
		return
	}
	for _, uri := range wanted.URIs {
		if t, ok := s.upstreams.FindResource(uri, s.only, rc.client.caller); ok {
			s.upstreams.Subscribe(rc.inFlight.NewContext(), t)
		}
	}
}

// upstreamError returns the error for the client of a request that an upstream failed.
func (s *Server) upstreamError(server string, err error) *msg.Error {
	var refused *msg.Error
	if errors.As(err, &refused) {
		return refused
	}
	s.logger.Warn("a request to an upstream failed", "upstream", server, "err", err)
	return msg.Errorf(mcp.INTERNAL_ERROR, "the upstream %s could not be asked: %v", server, err)
}

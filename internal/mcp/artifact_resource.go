package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// maxArtifactResource is the size of the largest artifact, in bytes, that a client can
// read as a resource: the client gets it in one message.
const maxArtifactResource = 16 << 20

// addArtifactTemplate lets clients read the artifacts of the runs that they may see.
func (s *Server) addArtifactTemplate() {
	s.library.AddResourceTemplate(mcp.NewResourceTemplate(msg.ArtifactURITemplate, "Artifact of a run",
		mcp.WithTemplateDescription("A file, table, chart or other artifact that a tool has made. Results of tools contain its URI.")), s.readArtifact)
}

// readArtifact serves resources/read for an artifact.
func (s *Server) readArtifact(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return nil, errors.New("mcp: a resource must be read in a session")
	}
	run, seq := templateArgument(r, "run"), templateArgument(r, "seq")
	number, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || msg.ArtifactURI(run, number) != r.Params.URI {
		return nil, server.ErrResourceNotFound
	}
	a, body, err := s.engine.OpenArtifact(ctx, rc.client.caller, run, number)
	var damaged *runlog.DamagedError
	switch {
	case errors.As(err, &damaged):
		return nil, damaged
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden), errors.Is(err, blob.ErrNotFound):
		return nil, server.ErrResourceNotFound // as if it didn't exist
	case err != nil:
		s.logger.Error("reading an artifact", "run", run, "seq", seq, "err", err)
		return nil, errors.New("the artifact could not be read; Beam's log says why")
	}
	if body != nil {
		defer body.Close()
	}
	if a.Size > maxArtifactResource {
		return nil, fmt.Errorf("the artifact is too large to be read as a resource: %s", humanize.Bytes(a.Size))
	}
	if body != nil {
		if a.Body, err = io.ReadAll(body); err != nil {
			return nil, err
		}
	}
	return []mcp.ResourceContents{artifactContents(r.Params.URI, a)}, nil
}

// artifactContents returns an artifact as the contents of a resource.
func artifactContents(uri string, a *generators.Artifact) mcp.ResourceContents {
	if msg.IsText(a.MediaType) {
		return mcp.TextResourceContents{URI: uri, MIMEType: a.MediaType, Text: string(a.Body)}
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: a.MediaType, Blob: base64.StdEncoding.EncodeToString(a.Body)}
}

// templateArgument returns a variable of a resource template, which mcp-go passes as a
// list.
func templateArgument(r mcp.ReadResourceRequest, name string) string {
	if list, ok := r.Params.Arguments[name].([]string); ok && len(list) == 1 {
		return list[0]
	}
	return ""
}

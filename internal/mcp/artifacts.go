package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

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

// artifacts lets clients read the artifacts of the runs that they may see.
type artifacts struct {
	engine *engine.Engine
	logger *slog.Logger
}

// artifactTemplate returns the entry of resources/templates/list for artifacts.
func artifactTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(msg.ArtifactURITemplate, "Artifact of a run",
		mcp.WithTemplateDescription("A file, table, chart or other artifact that a tool has made. Results of tools contain its URI."))
}

// errNoArtifact means that there is no such artifact, or that the caller may not see it.
var errNoArtifact = errors.New("there is no such artifact")

// read returns the contents of an artifact as those of a resource.
func (s *artifacts) read(ctx context.Context, caller generators.Caller, uri, run string, seq uint64) (mcp.ResourceContents, error) {
	a, body, err := s.engine.OpenArtifact(ctx, caller, run, seq)
	var damaged *runlog.DamagedError
	switch {
	case errors.As(err, &damaged):
		return nil, damaged
	case errors.Is(err, engine.ErrRunNotFound), errors.Is(err, engine.ErrForbidden), errors.Is(err, blob.ErrNotFound):
		return nil, errNoArtifact
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
	if msg.IsText(a.MediaType) {
		return mcp.TextResourceContents{URI: uri, MIMEType: a.MediaType, Text: string(a.Body)}, nil
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: a.MediaType, Blob: base64.StdEncoding.EncodeToString(a.Body)}, nil
}

package message

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A ContentBlock is an MCP content block (MCP, Tools, Tool Result).
type ContentBlock struct {
	Type     string            `json:"type"`
	Text     *string           `json:"text,omitempty"`
	Data     string            `json:"data,omitempty"`
	MimeType string            `json:"mimeType,omitempty"`
	Resource *resourceContents `json:"resource,omitempty"`
	URI      string            `json:"uri,omitempty"`
	Name     string            `json:"name,omitempty"`
	Size     int64             `json:"size,omitempty"`
}

type resourceContents struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

// TextBlock returns a text block.
func TextBlock(text string) ContentBlock { return ContentBlock{Type: "text", Text: &text} }

// maxInlineArtifacts is how many bytes of artifacts a result carries in all. An
// artifact beyond that becomes a link to Beam's page.
const maxInlineArtifacts = 4 << 20

// artifactBlocks returns artifacts as content blocks, in order, and their summaries.
func (t *Translator) artifactBlocks(ctx context.Context, seqs []uint64) ([]ContentBlock, *summarizer, error) {
	blocks, summaries := []ContentBlock{}, new(summarizer)
	left := int64(maxInlineArtifacts)
	for _, seq := range seqs {
		a, body, err := t.Source.OpenArtifact(ctx, seq)
		var damaged *runlog.DamagedError
		if errors.As(err, &damaged) {
			blocks = append(blocks, TextBlock(damaged.Error())) // in its place
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if left -= a.Size; left < 0 {
			if body != nil {
				body.Close()
			}
			summaries.add(a, t.artifactURI(a, seq))
			blocks = append(blocks, t.artifactLink(a, seq))
			continue
		}
		if body != nil {
			a.Body, err = io.ReadAll(body)
			body.Close()
			if err != nil {
				return nil, nil, err
			}
		}
		summaries.add(a, t.artifactURI(a, seq))
		blocks = append(blocks, t.artifactBlock(a, seq))
	}
	return blocks, summaries, nil
}

// artifactBlock returns an artifact with its body.
func (t *Translator) artifactBlock(a *generators.Artifact, seq uint64) ContentBlock {
	kind, _, _ := strings.Cut(a.MediaType, "/")
	switch {
	case kind == "image", kind == "audio":
		return ContentBlock{Type: kind, Data: base64.StdEncoding.EncodeToString(a.Body), MimeType: a.MediaType}
	case a.MediaType == generators.MarkdownType, a.MediaType == "text/plain" && a.URI == "":
		return TextBlock(string(a.Body))
	}
	r := &resourceContents{URI: t.artifactURI(a, seq), MimeType: a.MediaType}
	if IsText(a.MediaType) {
		s := string(a.Body)
		r.Text = &s
	} else {
		r.Blob = base64.StdEncoding.EncodeToString(a.Body)
	}
	return ContentBlock{Type: "resource", Resource: r}
}

// IsText reports whether content of a media type is sent as text.
func IsText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") || strings.HasSuffix(mediaType, "xml")
}

// artifactLink returns a link to an artifact that is too large for the result.
func (t *Translator) artifactLink(a *generators.Artifact, seq uint64) ContentBlock {
	address, err := t.artifactURL(seq)
	switch {
	case err != nil:
		return TextBlock(fmt.Sprintf("%s (%s, %d bytes) is too large for this result.", a.Title, a.MediaType, a.Size))
	case !t.Client.VersionAtLeast(mcp.ProtocolVersion20250618):
		return TextBlock(fmt.Sprintf("%s (%s, %d bytes) is at %s", a.Title, a.MediaType, a.Size, address))
	}
	return ContentBlock{Type: "resource_link", URI: address, Name: a.Title, MimeType: a.MediaType, Size: a.Size}
}

// artifactURI returns the URI that identifies an artifact: the photon's, or Beam's own.
func (t *Translator) artifactURI(a *generators.Artifact, seq uint64) string {
	if a.URI != "" {
		return a.URI
	}
	return ArtifactURI(t.RunID, seq)
}

// ArtifactURI returns the URI that Beam gives an artifact. Clients can read it as a
// resource.
func ArtifactURI(run string, seq uint64) string {
	return fmt.Sprintf("beam://runs/%s/artifacts/%d", run, seq)
}

// ParseArtifactURI is the inverse of [ArtifactURI].
func ParseArtifactURI(uri string) (run string, seq uint64, ok bool) {
	rest, isArtifact := strings.CutPrefix(uri, "beam://runs/")
	run, number, _ := strings.Cut(rest, "/artifacts/")
	seq, err := strconv.ParseUint(number, 10, 64)
	return run, seq, isArtifact && err == nil && ArtifactURI(run, seq) == uri
}

// ArtifactURITemplate is the template (RFC 6570) of the URIs that [ArtifactURI] returns.
const ArtifactURITemplate = "beam://runs/{run}/artifacts/{seq}"

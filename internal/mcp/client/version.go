package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

const modernVersion = mcp.ProtocolVersion20260728

// legacyVersions are the versions that begin with initialize, newest first.
var legacyVersions = []string{
	mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618, mcp.ProtocolVersion20250326, mcp.ProtocolVersion20241105,
}

func isModern(version string) bool { return version == modernVersion }

// A handshake agrees with a server on the version of the protocol, and learns what the
// server says of itself. It lasts no longer than the call of a method.
type handshake struct{ *Session }

// speaks reports whether the session may speak a version.
func (s handshake) speaks(version string) bool {
	return s.options.Versions == nil || slices.Contains(s.options.Versions, version)
}

// errLegacy means that a server doesn't speak 2026-07-28.
var errLegacy = errors.New("the server doesn't speak " + modernVersion)

// errProbedLate means that a child process was slow to start: it speaks 2026-07-28, but
// has been asked to initialize, too. Some servers then serve the older version, some the
// newer one, some both; another process must be asked only once.
var errProbedLate = errors.New("the server speaks " + modernVersion + ", but was too slow to say so")

// The response to the probe may come after that to initialize. A server that has responded to
// a ping meanwhile has handled the probe, too, and has lateProbeWait to respond to it; one
// that doesn't respond to pings has pingWait.
const (
	lateProbeWait = 100 * time.Millisecond
	pingWait      = time.Second
)

// agreeOnVersion discovers a server of 2026-07-28, and initializes any other.
func (s handshake) agreeOnVersion(ctx context.Context) error {
	newest := s.newestLegacy()
	if s.speaks(modernVersion) {
		offered, err := s.discoverOrInitialize(ctx, newest)
		if err == nil || newest == "" || ctx.Err() != nil || s.ctx.Err() != nil || isUnusable(err) {
			return s.describeHandshakeError(ctx, "server/discover", err)
		}
		if offered != "" {
			newest = offered
		}
		if s.ready() {
			return nil
		}
	}
	return s.describeHandshakeError(ctx, "initialize", s.initialize(ctx, newest))
}

func (s handshake) isProcess() bool {
	_, ok := s.transport.(*process)
	return ok
}

func (s handshake) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isReady
}

func (s handshake) newestLegacy() string {
	for _, v := range legacyVersions {
		if s.speaks(v) {
			return v
		}
	}
	return ""
}

func (s handshake) describeHandshakeError(ctx context.Context, method string, err error) error {
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return s.Err()
	case ctx.Err() != nil:
		return fmt.Errorf("%w to %s: %w", ErrNoResponse, method, context.Cause(ctx))
	}
	if isUnusable(err) {
		return err
	}
	return fmt.Errorf("the server refused %s: %w", method, err)
}

// isUnusable reports whether an error means that no version would make a difference.
func isUnusable(err error) bool {
	var unreachable *unreachableError
	var status *statusError
	return errors.Is(err, errProbedLate) || errors.As(err, &unreachable) || errors.As(err, &status) && (status.status == http.StatusUnauthorized || status.status == http.StatusForbidden)
}

// discoverOrInitialize probes the server for 2026-07-28. A server that doesn't respond
// in time, because it ignores methods that it doesn't know, or because it is still
// starting, is asked to initialize meanwhile, and the first of the two responses counts;
// but if a child process responds to both, the error is errProbedLate. Other errors are
// errLegacy, with the version to initialize with, if there is one; the
// server's, or that of ctx.
func (s handshake) discoverOrInitialize(ctx context.Context, legacy string) (offered string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	discovered, initialized := make(chan discovery, 1), make(chan error, 1)
	go func() {
		offered, err := s.discover(ctx)
		discovered <- discovery{offered, err}
	}()
	timer := time.NewTimer(s.options.ProbeTimeout)
	defer timer.Stop()
	startInitialize := timer.C
	if legacy == "" {
		startInitialize = nil
	}
	for {
		select {
		case o := <-discovered:
			switch {
			case startInitialize != nil || legacy == "":
			case o.err != nil:
				return "", <-initialized
			case s.isProcess():
				return "", errProbedLate
			}
			return o.offered, o.err
		case <-startInitialize:
			startInitialize = nil
			go func() { initialized <- s.initialize(ctx, legacy) }()
		case err := <-initialized:
			if err == nil && s.isProcess() && s.isDiscoveredLate(ctx, discovered) {
				return "", errProbedLate
			}
			if err == nil {
				return "", nil
			}
			o := <-discovered // it may be a server of 2026-07-28 that was slow to start
			return o.offered, errors.Join(o.err, err)
		}
	}
}

// A discovery is what [Session.discover] returned.
type discovery struct {
	offered string
	err     error
}

// isDiscoveredLate reports whether an initialized server responds to the probe, too.
func (s handshake) isDiscoveredLate(ctx context.Context, discovered <-chan discovery) bool {
	ponged := make(chan struct{})
	go func() {
		defer close(ponged)
		_, _ = s.request(ctx, string(mcp.MethodPing), nil) // an error is a response, too
	}()
	timer := time.NewTimer(pingWait)
	defer timer.Stop()
	for {
		select {
		case o := <-discovered:
			return o.err == nil
		case <-ponged:
			ponged = nil
			timer.Reset(lateProbeWait)
		case <-timer.C:
			return false
		}
	}
}

// discover asks the server for what it speaks. If the server refuses 2026-07-28, offered
// is the version that it has in common with the session, if there is one.
func (s handshake) discover(ctx context.Context) (offered string, err error) {
	for range 2 {
		var result json.RawMessage
		result, err = s.request(ctx, string(mcp.MethodServerDiscover), nil)
		if err == nil {
			return s.useDiscovered(result)
		}
		var refused *message.Error
		if !errors.As(err, &refused) || refused.Code != mcp.UNSUPPORTED_PROTOCOL_VERSION {
			return "", err
		}
		supported := versionList(refused.Data, "supported")
		if !slices.Contains(supported, modernVersion) {
			return s.commonLegacy(supported), err
		}
	}
	return "", err
}

func (s handshake) commonLegacy(supported []string) string {
	for _, v := range legacyVersions {
		if slices.Contains(supported, v) && s.speaks(v) {
			return v
		}
	}
	return ""
}

// useDiscovered uses the result of server/discover.
func (s handshake) useDiscovered(result json.RawMessage) (offered string, err error) {
	supported := versionList(result, "supportedVersions")
	if !slices.Contains(supported, modernVersion) {
		return s.commonLegacy(supported), errLegacy
	}
	meta := rawjson.Member(result, "_meta")
	s.use(Server{
		Version: modernVersion, Capabilities: objectOrEmpty(rawjson.Member(result, "capabilities")),
		Info: objectOrNil(rawjson.Member(objectOrEmpty(meta), mcp.MetaKeyServerInfo)), Instructions: textMember(result, "instructions"),
	})
	return "", nil
}

// use makes the session ready, unless it already is.
func (s handshake) use(server Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isReady {
		return false
	}
	s.isReady, s.server = true, server
	s.transport.setVersion(server.Version)
	return true
}

// initialize begins a session of a version before 2026-07-28.
func (s handshake) initialize(ctx context.Context, version string) error {
	params, err := s.initializeParams(version)
	if err != nil {
		return err
	}
	result, err := s.request(ctx, string(mcp.MethodInitialize), params)
	if err != nil {
		return err
	}
	chosen := textMember(result, "protocolVersion")
	if !slices.Contains(legacyVersions, chosen) || !s.speaks(chosen) {
		return fmt.Errorf("it chose the protocol version %q, which Beam doesn't speak", humanize.Truncate(chosen, 50))
	}
	server := Server{
		Version: chosen, Capabilities: objectOrEmpty(rawjson.Member(result, "capabilities")),
		Info: objectOrNil(rawjson.Member(result, "serverInfo")), Instructions: textMember(result, "instructions"),
	}
	if !s.use(server) {
		return nil
	}
	s.confirmInitialized(server)
	return nil
}

// reinitialize begins another session with the same server, which must speak the same
// version.
func (s handshake) reinitialize(ctx context.Context) error {
	params, err := s.initializeParams(s.server.Version)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.RequestTimeout)
	defer cancel()
	result, err := s.request(ctx, string(mcp.MethodInitialize), params)
	if err != nil {
		return err
	}
	if chosen := textMember(result, "protocolVersion"); chosen != s.server.Version {
		err := fmt.Errorf("the server now speaks %q", humanize.Truncate(chosen, 50))
		s.End(err)
		return err
	}
	s.confirmInitialized(s.server)
	return nil
}

func (s handshake) initializeParams(version string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"protocolVersion": version, "clientInfo": s.options.Info, "capabilities": s.options.Capabilities,
	})
}

// confirmInitialized sends what follows the server's response to initialize.
func (s handshake) confirmInitialized(server Server) {
	s.transport.sendNow(message.EncodeNotification("notifications/initialized", nil))
	if rawjson.Member(server.Capabilities, "logging") != nil {
		s.begin(&pendingRequest{method: "logging/setLevel", params: json.RawMessage(`{"level":"` + logLevel + `"}`)}, func(json.RawMessage, error) {})
	}
}

// versionList returns a member of a value that is a list of versions.
func versionList(value any, name string) []string {
	raw, ok := value.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(value); err != nil {
			return nil
		}
	}
	var list []string
	if rawjson.TypeName(raw) != rawjson.ObjectType || json.Unmarshal(rawjson.Member(raw, name), &list) != nil {
		return nil
	}
	return list
}

// textMember returns a member of a JSON object that is a string, or "".
func textMember(object json.RawMessage, name string) string {
	if rawjson.TypeName(object) != rawjson.ObjectType {
		return ""
	}
	value := rawjson.Member(object, name)
	if rawjson.TypeName(value) != rawjson.TextType {
		return ""
	}
	text, _ := rawjson.DecodeText(value)
	return text
}

func objectOrNil(raw json.RawMessage) json.RawMessage {
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return nil
	}
	return raw
}

func objectOrEmpty(raw json.RawMessage) json.RawMessage {
	if raw = objectOrNil(raw); raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

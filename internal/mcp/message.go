package mcp

import msg "github.com/photon-beam/beam/internal/mcp/message"

// Short names for what nearly every file here uses of package message.
type (
	message           = msg.Incoming
	rpcError          = msg.Error
	resultBase        = msg.ResultBase
	toolResult        = msg.ToolResult
	clientRequest     = msg.Request
	missingCapability = msg.MissingCapability
	elicitParams      = msg.ElicitParams
	settlement        = msg.Settlement
)

var (
	rpcErrorf          = msg.Errorf
	encodeNotification = msg.EncodeNotification
	encodeResult       = msg.EncodeResult
	encodeError        = msg.EncodeError
	errorResult        = msg.ErrorResult
	jsonNull           = msg.Null
)

package policy

import (
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// Recorded returns what the log keeps of a call's arguments or result: the value itself, or
// a text that says what is left of it.
func (p *Policy) Recorded(value json.RawMessage) json.RawMessage {
	switch p.server.Record {
	case config.RecordMetadata:
		d := DigestOf(value)
		return rawjson.EncodeText(fmt.Sprintf("Not recorded: %d bytes, SHA-256 %s", d.Bytes, d.SHA256))
	case config.RecordNothing:
		return rawjson.EncodeText("Not recorded")
	}
	return value
}

package client

import "encoding/json"

func (c *Call) needsTask() bool                       { return false }
func (c *Call) followTask(json.RawMessage) bool       { return false }
func (c *Call) cancelTask()                           {}
func withTaskParam(p json.RawMessage) json.RawMessage { return p }

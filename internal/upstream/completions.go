package upstream

import "encoding/json"

// completeElicitation handles that a person has finished at an address.
func (u *Upstream) completeElicitation(params json.RawMessage) {
	id := memberText(params, "elicitationId")
	u.mu.Lock()
	complete := u.completions[id]
	delete(u.completions, id)
	u.mu.Unlock()
	if complete != nil {
		complete()
	}
}

func memberText(params json.RawMessage, name string) string {
	var members map[string]json.RawMessage
	var text string
	if json.Unmarshal(params, &members) == nil {
		_ = json.Unmarshal(members[name], &text) // another type is no text
	}
	return text
}

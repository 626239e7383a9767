package controls

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/form"
)

// HasShadowingField reports whether a field's name shadows a property of its form that
// Datastar calls (DOM clobbering): an input named "closest" makes form.closest that
// input. Names come from photons and must be posted as they are, so a form with such a
// field is shown on a page without script, where it works like any other.
func HasShadowingField(fields ask.Fields) bool {
	for i := range fields {
		if datastarFormProperties[fields[i].Name] {
			return true
		}
	}
	return false
}

// HasShadowingPart reports the same of a form's parts.
func HasShadowingPart(f *form.Part) bool {
	for _, p := range f.Parts {
		if datastarFormProperties[p.Input] {
			return true
		}
	}
	return false
}

// datastarFormProperties are the element properties that Datastar 1.0.2 uses.
var datastarFormProperties = map[string]bool{
	"addEventListener": true, "append": true, "appendChild": true, "attributes": true, "checkValidity": true,
	"childNodes": true, "children": true, "cloneNode": true, "closest": true, "contains": true, "dataset": true,
	"dispatchEvent": true, "firstChild": true, "getAttribute": true, "hasAttribute": true, "insertBefore": true,
	"isEqualNode": true, "matches": true, "moveBefore": true, "nextSibling": true, "noValidate": true, "nodeName": true,
	"nodeType": true, "nodeValue": true, "parentElement": true, "parentNode": true, "querySelector": true,
	"querySelectorAll": true, "remove": true, "removeAttribute": true, "removeChild": true, "removeEventListener": true,
	"replaceWith": true, "reportValidity": true, "setAttribute": true, "shadowRoot": true, "tagName": true,
}

package form

import (
	"net/url"
	"time"
)

// timeZoneField is the form field that holds the browser's time zone.
const timeZoneField = "beam:tz"

// TimeZone returns the time zone of the browser that posted a form, or UTC if the form
// doesn't say.
func TimeZone(values url.Values) *time.Location {
	if l, err := time.LoadLocation(values.Get(timeZoneField)); err == nil {
		return l
	}
	return time.UTC
}

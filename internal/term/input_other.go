//go:build !unix || aix || solaris

package term

import "errors"

// hideInput turns the echo of a terminal off until restore is called.
func hideInput(uintptr) (restore func(), err error) {
	return nil, errors.New("this terminal can't hide what is typed: answer the question on the page, or without --plain")
}

// discardInput discards nothing: what is typed before a form is drawn is dropped by the form.
func discardInput(uintptr) (typed bool) { return false }

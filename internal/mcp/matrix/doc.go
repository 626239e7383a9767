// Package matrix holds Beam to what it promises of every question: however it
// travels and whoever answers it, the tool gets one answer, the first, and
// everybody else who was asked is told.
package matrix

// Package timeline folds a run's log into what a page shows of it. It knows no
// HTML: package ui renders what is here.
//
// What is kept is bounded, whatever a tool emits; what is not kept is counted.
package timeline

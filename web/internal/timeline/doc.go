// Package timeline folds a run's log into what a page shows of it. It knows no
// HTML: package ui renders it.
//
// It keeps a bounded amount, whatever a photon emits, and counts what it drops.
package timeline

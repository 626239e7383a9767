// Package timeline folds a run's log into what a page shows of it. It knows no
// HTML: package ui renders it.
//
// What it keeps is bounded, whatever a photon emits; it counts what it drops.
package timeline

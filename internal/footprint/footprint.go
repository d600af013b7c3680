// Package footprint keeps small what a long run occupies of a host's memory.
package footprint

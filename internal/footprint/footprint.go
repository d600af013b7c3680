// Package footprint keeps the memory of a long run small.
package footprint

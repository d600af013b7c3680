package fencemodel

import (
	"testing"

	"redlockrun/internal/proof/model"
)

func TestLeaseModelNeverRenewsPastAnotherHolder(t *testing.T) {
	sizes := []Lease{{Nodes: 3, Orders: 2}, {Nodes: 3, Orders: 3}}
	if model.Large() {
		sizes = append(sizes, Lease{Nodes: 3, Orders: 5}, Lease{Nodes: 4, Orders: 3}, Lease{Nodes: 5, Orders: 2})
	}
	for _, size := range sizes {
		model.MustHold(t, size, 50_000)
	}
}

func TestMutationOfLeaseIsCaught(t *testing.T) {
	for name, fault := range map[string]LeaseFault{
		"heal without a majority":                    HealWithoutHolding,
		"renewals compare the run id alone":          RenewForTheRun,
		"a healing counts when the majority is gone": CountAnyHealing,
	} {
		t.Run(name, func(t *testing.T) { model.MustBreak(t, Lease{Nodes: 3, Orders: 2, Fault: fault}) })
	}
}

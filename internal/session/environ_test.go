package session

import (
	"slices"
	"testing"

	"redlockrun/internal/config"
)

func TestInnerVariablesReplaceTheOuterOnes(t *testing.T) {
	got := withVariables([]string{"A=1", config.HeldKeyVar + "=outer", "B", config.HeldKeyVar + "=again"},
		[][2]string{{config.HeldKeyVar, "inner"}})
	if !slices.Equal(got, []string{"A=1", "B", config.HeldKeyVar + "=inner"}) {
		t.Errorf("%q", got)
	}
}

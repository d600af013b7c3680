// Preflight tries what the tests need of this machine. What is lacking it tells on
// stderr, with the reason and what is therefore left out, and prints by name.
package main

import (
	"fmt"
	"os"

	"redlockrun/internal/proof/ability"
)

func main() {
	lacking := 0
	for _, a := range ability.All() {
		err := a.Try()
		if err == nil {
			continue
		}
		if lacking++; lacking == 1 {
			fmt.Fprintln(os.Stderr, "This machine lacks what some tests need; they are left out:")
		}
		fmt.Fprintf(os.Stderr, "- %s\n  (%v)\n", a.What, err)
		fmt.Println(a.Name)
	}
}

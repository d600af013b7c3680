// Trackrecord keeps the record of the faults that were found in the program, and shows them:
// on the commit before the one that mended a fault, a test fails that passes since.
//
// trackrecord [-seed WORD] [N|COMMIT|PART|all]   show three, N of them drawn by the seed, or those of a commit or part
//
//	trackrecord table                              write the record into docs/dev/proof/track-record.md
//	trackrecord check                              say what the record names and the tree has no more
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	recordFile = "scripts/trackrecord/faults.txt"
	proof      = "docs/dev/proof/track-record.md"
)

func main() {
	seed := flag.String("seed", time.Now().UTC().Format(time.DateOnly), "what a drawing depends on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Args(), *seed); err != nil {
		fmt.Fprintln(os.Stderr, "track-record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, seed string) error {
	text, err := os.ReadFile(recordFile)
	if err != nil {
		return err
	}
	faults, err := parse(string(text))
	if err != nil {
		return err
	}
	word := "3"
	if len(args) > 0 {
		word = args[0]
	}
	switch word {
	case "table":
		return place.Write(proof, func(string) string { return table(faults) })
	case "check":
		return check(ctx, faults)
	}
	return show(ctx, faults, word, seed)
}

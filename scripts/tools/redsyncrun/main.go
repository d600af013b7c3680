// Redsyncrun runs a command under a lock of redsync, as its users write it: the lock is
// extended each third of its ttl, and the command is killed when that fails. It is measured
// beside redlockrun by scripts/lost-updates.sh.
//
//	redsyncrun KEY TTL COMMAND [ARG...]
//
// Redis is at $REDIS_ADDR, or where one of $REDIS_SENTINELS, separated by commas, says that
// mymaster is.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) < 3 {
		return fail(64, "usage: redsyncrun KEY TTL COMMAND [ARG...]")
	}
	ttl, err := time.ParseDuration(args[1])
	if err != nil {
		return fail(64, err)
	}
	mutex := redsync.New(goredis.NewPool(client())).NewMutex(args[0],
		redsync.WithExpiry(ttl), redsync.WithTries(400), redsync.WithRetryDelay(50*time.Millisecond))
	if err := mutex.Lock(); err != nil {
		return fail(75, err)
	}
	status := under(mutex, ttl, exec.Command(args[2], args[3:]...))
	if ok, err := mutex.Unlock(); !ok || err != nil {
		return fail(max(status, 1), fmt.Errorf("unlock: it was ours: %t: %w", ok, err))
	}
	return status
}

func client() *redis.Client {
	if sentinels := os.Getenv("REDIS_SENTINELS"); sentinels != "" {
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: "mymaster", SentinelAddrs: strings.Split(sentinels, ","),
		})
	}
	return redis.NewClient(&redis.Options{Addr: os.Getenv("REDIS_ADDR")})
}

// under runs the command and extends the lock meanwhile.
func under(mutex *redsync.Mutex, ttl time.Duration, cmd *exec.Cmd) int {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fail(127, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		extend(ctx, mutex, ttl, cmd)
	}()
	err := cmd.Wait()
	cancel()
	<-over
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fail(1, err)
	}
	return max(cmd.ProcessState.ExitCode(), -cmd.ProcessState.ExitCode()) // -1 is a signal
}

func extend(ctx context.Context, mutex *redsync.Mutex, ttl time.Duration, cmd *exec.Cmd) {
	for tick := time.NewTicker(ttl / 3); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if ok, err := mutex.ExtendContext(ctx); (!ok || err != nil) && ctx.Err() == nil {
			fail(1, fmt.Errorf("extend: it is ours: %t: %w", ok, err))
			_ = cmd.Process.Kill()
			tick.Stop()
			return
		}
	}
}

func fail(status int, what any) int {
	fmt.Fprintln(os.Stderr, "redsyncrun:", what)
	return status
}

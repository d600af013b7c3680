package ability

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limit is how long a try may take.
const limit = 30 * time.Second

func tryTerminal() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/ptmx: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock /dev/ptmx: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("use /dev/ptmx: %w", err)
	}
	other, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	return other.Close()
}

// tryNamespaces also enters the namespace from outside.
func tryNamespaces() error {
	unshare, enter := "unshare --pid --fork --kill-child --mount-proc", "--pid"
	if os.Getuid() != 0 {
		unshare += " --user --map-root-user"
		enter += " --user --preserve-credentials"
	}
	return shell(unshare + ` sh -c 'test $$ = 1 && nsenter --target 1 ` + enter + ` true'`)
}

func tryNetworks() error {
	return shell(`unshare --net sh -c '
		unshare --net sleep 30 & other=$!
		trap "kill $other" EXIT
		until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do kill -0 $other || exit 1; done
		ip link add eth0 type veth peer name eth0 netns $other &&
		ip addr add 10.0.0.1/24 dev eth0 && ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent &&
		nsenter --target $other --net ip link set eth0 up'`)
}

func shell(text string) error {
	cmd := exec.Command("sh", "-c", text)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); err != nil && line != "" {
		return errors.New(line)
	}
	return err
}

// tryUsers runs id(1) as another user, from a copy that makes it root again.
func tryUsers() error {
	dir, err := os.MkdirTemp("", "ability")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const somebody = 54321
	id := filepath.Join(dir, "id")
	if err := shell(fmt.Sprintf(`chmod 755 %[1]s && cp "$(command -v id)" %[2]s && chmod 6755 %[2]s`, dir,
		id)); err != nil {
		return err
	}
	cmd := exec.Command(id, "-u")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if user := strings.TrimSpace(string(out)); user != "0" {
		return fmt.Errorf("a set-user-id program of root's runs as %s", user)
	}
	return nil
}

func tryLeases() error {
	f, err := os.CreateTemp("", "ability")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return fmt.Errorf("take a lease on %s: %w", f.Name(), err)
	}
	return nil
}

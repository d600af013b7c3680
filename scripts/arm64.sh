#!/bin/sh
# Runs on a kernel for arm64, in a machine that qemu plays, what depends on the processor: the
# tests of the relay, of the runner and of the guard, those for 32 bits too, and a job
# under ./redlockrun. qemu's emulation of a user's program would prove nothing: its
# signals and its /proc are not the kernel's.
#
# Kernel and programs are Debian's, by apt with directories of its own, so that signatures
# are checked and this machine's packages are left alone. They are kept in .tools.
set -eu
cd "$(dirname "$0")/.."
house=$PWD/.tools/arm64
root=$house/root

left_out() {
    echo "arm64 is left out: $1" >&2
    exit 0
}

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    left_out "its kernel comes from Debian by apt-get, which is not here"

# Debian's programs for arm64, as those that apply to this machine are fetched.
fetch() {
    mkdir -p "$house/lists/partial" "$house/cache/archives/partial"
    : >"$house/status"
    cat >"$house/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
#clear APT::Update::Post-Invoke;
#clear DPkg::Post-Invoke;
Acquire::Languages "none";
Dir::State "$house";
Dir::State::status "$house/status";
Dir::Cache "$house/cache";
CONF
    export APT_CONFIG="$house/apt.conf"
    apt-get -qq update
    kernel=$(apt-cache depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$kernel" ] || return 1
    apt-get -qq -y --download-only install busybox-static bash coreutils dash grep less ncurses-base perl-base sed util-linux vim-tiny </dev/null
    (cd "$house/cache/archives" && apt-get -qq download "$kernel")
}

# unpack makes a root directory of the packages, and takes the kernel.
unpack() {
    rm -rf "$root"
    mkdir -p "$root/usr" "$house/kernel"
    for package in "$house"/cache/archives/*.deb; do
        case ${package##*/} in
        linux-image-*) dpkg-deb --fsys-tarfile "$package" | tar -xC "$house/kernel" --wildcards './boot/vmlinuz-*' ;;
        *) dpkg-deb -x "$package" "$root" ;;
        esac
    done
    for dir in bin sbin lib; do
        if [ -d "$root/$dir" ] && [ ! -L "$root/$dir" ]; then
            cp -a "$root/$dir" "$root/usr/"
            rm -rf "${root:?}/$dir"
        fi
        ln -sfn usr/$dir "$root/$dir"
    done
    ln -sf vim.tiny "$root/usr/bin/vi"
    ln -sf dash "$root/usr/bin/sh"
    rm -rf "$root"/usr/share/doc "$root"/usr/share/locale "$root"/usr/share/man
    mv "$house"/kernel/boot/vmlinuz-* "$house/vmlinuz"
    rm -rf "$house/cache" "$house/lists"
}

if ! [ -e "$house/vmlinuz" ]; then
    echo "fetching Debian's kernel and programs for arm64" >&2
    fetch && unpack || left_out "apt found no linux-image-arm64 where /etc/apt says; a mirror of Debian for arm64 has it"
fi

# What is tested, for both.
tests=$root/tests
rm -rf "$tests"
mkdir -p "$tests" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run"
for test in relay-arm guard-arm relay-arm64 guard-arm64 runner-arm64; do
    GOARCH=${test#*-} CGO_ENABLED=0 go test -c -o "$tests/$test" "./internal/${test%-*}"
done
GOARCH=arm64 CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$root/usr/bin/redlockrun" ./cmd/redlockrun
cp scripts/arm64-init.sh "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$house/initramfs"

# The machine has as many processors as this one, up to four.
log=$house/log
timeout 3600 qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp "$(($(nproc) < 4 ? $(nproc) : 4))" -m 2048 \
    -nic none -nographic -no-reboot -kernel "$house/vmlinuz" -initrd "$house/initramfs" \
    -append 'console=ttyAMA0 quiet panic=-1 rdinit=/init' </dev/null | tee "$log" >&2
tr -d '\r' <"$log" | grep -qx 'arm64: all of it passed' || { echo "arm64: failed, see above" >&2; exit 1; }

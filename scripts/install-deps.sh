#!/bin/sh
# install-deps.sh demo|bench|image|test|lost|e2e: installs the programs that are needed and missing.
#
# Nothing that is there already is touched, and a redis-server that this
# installs is neither started nor set to start with the machine: tests start
# servers of their own.
set -eu

# program or file : Debian package
demo='redis-server:redis-server redis-cli:redis-tools'
bench="$demo flock:util-linux unshare:util-linux"
test="$demo gcc:gcc /usr/include/stdlib.h:libc6-dev openssl:openssl bash:bash busybox:busybox-static setlock:daemontools less:less vi:vim-tiny ps:procps pkill:procps killall:psmisc
    ip:iproute2 iptables:iptables flock:util-linux unshare:util-linux nsenter:util-linux setpriv:util-linux nohup:coreutils git:git
    dash:dash zsh:zsh fish:fish wget:wget pv:pv rsync:rsync perl:perl-base sqlite3:sqlite3 ssh-keygen:openssh-client"
lost="$test etcd:etcd-server etcdctl:etcd-client"
image='buildah:buildah /usr/share/ca-certificates/mozilla:ca-certificates'
e2e="$test $image cron:cron chronic:moreutils systemd-analyze:systemd mandoc:mandoc man:man-db qemu-system-aarch64:qemu-system-arm cpio:cpio
    prometheus:prometheus prometheus-node-exporter:prometheus-node-exporter /usr/lib/nagios/plugins/negate:monitoring-plugins-basic
    podman:podman runc:runc conmon:conmon /usr/share/doc/busybox-static/copyright:busybox-static
    chromium:chromium /usr/share/bash-completion/bash_completion:bash-completion
    rpm:rpm mmdebstrap:mmdebstrap lintian:lintian chroot:coreutils"

case ${1-} in
demo) wanted=$demo ;;
bench) wanted=$bench ;;
test) wanted=$test ;;
lost) wanted=$lost ;;
image) wanted=$image ;;
e2e) wanted=$e2e ;;
*) echo "usage: install-deps.sh demo|bench|image|test|lost|e2e" >&2; exit 64 ;;
esac

PATH=$PATH:/usr/sbin:/sbin
missing() {
    for pair in $wanted; do
        case $pair in
        /*) [ -e "${pair%:*}" ] || echo "${pair#*:}" ;;
        *) command -v "${pair%:*}" >/dev/null || echo "${pair#*:}" ;;
        esac
    done | sort -u
}

packages=$(missing)
[ -n "$packages" ] || exit 0
packages=$(echo $packages)

if ! command -v apt-get >/dev/null; then
    echo "please install by your package manager (named as on Debian): $packages" >&2
    exit 69
fi

root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "please install as root: apt-get install $packages" >&2; exit 69; }
    root=sudo
fi

# Debian's way to say that no service is to be started by an installation.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $root tee $policy >/dev/null
    $root chmod 755 $policy
    trap '$root rm -f $policy' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi

echo "installing $packages" >&2
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2; }
install() { apt install -y --no-install-recommends $packages; }
install 2>/dev/null || { apt update && install; }

case " $packages " in *' redis-server '* | *' etcd-server '* | *' cron '* | *' prometheus'*)
    if [ -d /run/systemd/system ]; then
        for unit in redis-server etcd cron prometheus prometheus-node-exporter; do
            case " $packages " in *" $unit "*) $root systemctl disable --now $unit >/dev/null 2>&1 || true ;; esac
        done
    fi
    ;;
esac

packages=$(missing)
[ -z "$packages" ] || { echo "still missing: $packages" >&2; exit 69; }

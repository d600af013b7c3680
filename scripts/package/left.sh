#!/bin/sh
# After the package's files are gone: systemd forgets the units.
set -eu
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi

#!/bin/sh
# before.sh: prints what users may have before the commit that is checked out: the release before
# it, and as long as there is none a commit whose packages are taken for one. An upgrade from there
# must go well (internal/proof/e2e).
set -eu
cd "$(dirname "$0")/.."
git describe --tags --abbrev=0 --match 'v[0-9]*' HEAD^ 2>/dev/null || echo 73b6cb1deb2e5b846c861e4ce181924dc7d67b05

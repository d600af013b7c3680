#!/bin/sh
# The import rules: who may know whom. A package without a rule is an error.
set -eu
cd "$(dirname "$0")/.."

# package (a regular expression) : what it may import beside the standard library
rules='
cmd/redlockrun     : internal/(outset/startup|config|console|explain|flagset|operator|password|runner|session|topic) github.com/spf13/(cobra|pflag)
internal/session   : internal/(boottime|config|console|explain|footprint|interrupt|lock|lock/local|lock/permits|outfile|output|runner|store|watchdog)
internal/operator  : internal/(boottime|config|console|doctor|explain|flagset|interrupt|lock|lock/local|lock/permits|lock/wire|outfile|page|report|runner|screen|store) github.com/spf13/(cobra|pflag)
internal/explain   : internal/(boottime|config|console|lock|lock/quorum|runner|watchdog)
internal/store     : internal/(config|lock|lock/line|lock/permits|lock/quorum)
internal/flagset   : internal/config github.com/spf13/pflag
internal/interrupt : internal/runner
internal/outfile   : internal/(lock|runner)
internal/config     : internal/lock
internal/topic      : internal/(config|lock)
internal/console    : github.com/rs/zerolog golang.org/x/(sys|term).*
internal/output     : golang.org/x/(sys|term).*
internal/report     : internal/(lock|console)
internal/page       : internal/(lock|page/markup|report)
internal/page/markup :
internal/doctor     : internal/(config|lock|lock/link|lock/wire) golang.org/x/sys.*
internal/screen     : internal/relay golang.org/x/(sys|term).*
internal/watchdog   : internal/(lock|boottime)
internal/lock       : internal/boottime github.com/oklog/ulid/v2
internal/lock/wire  : internal/(lock|boottime)
internal/lock/link  : internal/(lock|lock/wire|boottime) github.com/redis/go-redis/v9.*
internal/lock/ledger :
internal/lock/step  : internal/(boottime|lock|lock/ledger|lock/link|lock/wire)
internal/lock/inspect : internal/(lock|lock/link|lock/wire)
internal/lock/line  : internal/(lock|lock/link|lock/wire|lock/ledger|lock/step|lock/inspect|boottime)
internal/lock/quorum : internal/(lock|lock/link|lock/wire|lock/ledger|lock/step|lock/inspect|boottime)
internal/proof/model/fencemodel : internal/proof/model
internal/proof/model/linemodel : internal/proof/model
internal/proof/model :
internal/lock/local : internal/(lock|lock/wire|boottime) golang.org/x/sys.*
internal/lock/permits : internal/(lock|boottime)
internal/proof/ledgers : internal/(lock|lock/wire)
internal/proof/locktest : internal/(lock|lock/wire|proof/redistest|boottime)
internal/runner     : internal/(boottime|forkexec|guard|relay) golang.org/x/sys.*
internal/forkexec   : internal/outset
internal/outset     :
internal/outset/startup : internal/outset
internal/guard      : internal/outset
internal/password   : internal/(guard|lock)
internal/relay      : internal/outset golang.org/x/sys.*
internal/proof/ptytest : internal/proof/ability golang.org/x/sys.*
internal/proof/ability    : golang.org/x/sys.*
internal/footprint  : golang.org/x/sys.*
internal/boottime   : golang.org/x/sys.*
internal/proof/redistest  : internal/proof/ability golang.org/x/sys.*
scripts/manual      : internal/(config|flagset|operator|topic)
scripts/scale       : internal/(lock|lock/line|lock/wire)
scripts/.*          : internal/proof/(redistest|ability|seeded) scripts/page golang.org/x/sys.*
internal/proof/e2e        :
internal/proof/capture    :
internal/proof/seeded     :
internal/proof/nemesis    :
internal/proof/simulation :
internal/proof/simulation/server : github.com/yuin/gopher-lua.*
'
# Whom tests may import follows no rule but this: Redis is spoken to by the lock alone.
outside_lock='^redlockrun/internal/(lock|proof)(/|$)'

imports() { go list -tags e2e -f "{{\$p := .ImportPath}}{{range $1}}{{\$p}} {{.}}{{\"\n\"}}{{end}}" ./... | sort -u; }

failed=$(
    for os in linux darwin; do
        export GOOS=$os
        imports .Imports | RULES=$rules awk '
            BEGIN {
                n = split(ENVIRON["RULES"], lines, "\n")
                for (i = 1; i <= n; i++) if (split(lines[i], part, " *: *") == 2) {
                    rule[++count] = "^redlockrun/" part[1] "$"
                    allowed[count] = part[2]
                }
            }
            function may(package, what,    i, j, m, words) {
                for (i = 1; i <= count; i++) if (package ~ rule[i]) {
                    m = split(allowed[i], words, " ")
                    for (j = 1; j <= m; j++) if (what ~ "^(redlockrun/)?" words[j] "$") return 1
                }
                return 0
            }
            $2 ~ /^redlockrun\// || $2 ~ /^[^\/]*\./ { if (!may($1, $2)) print $1 " may not import " $2 }'
        { imports .TestImports; imports .XTestImports; } | awk -v lock="$outside_lock" '
            $2 ~ /go-redis/ && $1 !~ lock { print "the tests of " $1 " may not import " $2 }'
    done | sort -u
    # Of the lock, the watchdog knows how it can be lost, its times, how to ask again and what a failure says, and no more.
    for file in internal/watchdog/*.go; do
        case $file in *_test.go) continue ;; esac
        sed "s://.*::" "$file" | grep -o "\block\.[A-Z][A-Za-z]*" | grep -vE "\.(Err(Lost|Taken)|Times|Draw|Sleep|ClearerError)\$" |
            sed "s:^:$file may not use :" || true
    done
)
[ -z "$failed" ] || { echo "$failed" >&2; exit 1; }

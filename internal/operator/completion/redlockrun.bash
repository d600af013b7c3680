# Completion of redlockrun, for bash 4.3 or later. Nothing of what is typed is evaluated.

# A word as it is meant, where that shows without evaluating it.
_redlockrun_meant() {
    case $1 in
    \'*\') meant=${1:1:${#1}-2} ;;
    \"*\") meant=${1:1:${#1}-2} ;;
    *) meant=${1//\\/} ;;
    esac
}

_redlockrun() {
    local IFS=$' \t\n' rest=${COMP_LINE:0:COMP_POINT} piece= meant line directive current quote= before i n=-1
    local -a typed=() from=() behind=() words=() lines=()
    # bash breaks words at = and :, too. They are put together again, up to the cursor.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if ((n < 0)) || [[ $rest == [[:blank:]]* ]]; then
            rest=${rest#"${rest%%[![:blank:]]*}"}
            ((++n))
            typed[n]= from[n]=$i behind[n]=$rest
        fi
        piece=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || piece=$rest
        typed[n]+=$piece
        rest=${rest#"$piece"}
    done
    for ((i = 1; i < n; i++)); do
        _redlockrun_meant "${typed[i]}"
        words+=("$meant")
    done
    current=${typed[n]}
    case $current in
    [\'\"]*) quote=${current:0:1} current=${current:1} piece=$current ;;
    *\\*) current=${current//\\/} piece=${piece//\\/} ;;
    esac
    while IFS= read -r line; do
        lines+=("$line")
    done < <(command redlockrun __complete "${words[@]}" "$current" 2>/dev/null </dev/null)
    ((${#lines[@]})) || return
    i=$((${#lines[@]} - 1))
    directive=${lines[i]#:}
    unset 'lines[i]'
    case $directive in
    64) _redlockrun_hand_on $((lines[0] + 1)) ;;
    16) _redlockrun_files -d ;;
    0) _redlockrun_files -f ;;
    *) _redlockrun_reply ;;
    esac
}

# The answers, but for what stands before the last = or :.
_redlockrun_reply() {
    [[ $directive != 6 ]] || compopt -o nospace
    case $piece in [=:]) piece= ;; esac
    before=${current%"$piece"}
    COMPREPLY=()
    for line in "${lines[@]}"; do
        line=${line%%$'\t'*}
        line=${line#"$before"}
        if [[ -z $quote ]]; then
            printf -v line %q "$line"
        elif [[ $line == *"$quote"* || $quote == '"' && $line == *[\$\`\\]* ]]; then
            continue
        fi
        COMPREPLY+=("$line")
    done
}

_redlockrun_files() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen "$1" -- "${current#--*=}")
}

# The words from a number on are a command line of their own.
_redlockrun_hand_on() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "${from[$1]}"
        return
    fi
    local spec
    COMP_LINE=${behind[$1]} COMP_POINT=${#behind[$1]}
    COMP_WORDS=("${COMP_WORDS[@]:${from[$1]}}")
    ((COMP_CWORD -= ${from[$1]}))
    if ((COMP_CWORD <= 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current"; [[ $current != */* ]] || compgen -f -- "$current")
        return
    fi
    spec=$(complete -p -- "${COMP_WORDS[0]}" 2>/dev/null || complete -p -- "${COMP_WORDS[0]##*/}" 2>/dev/null)
    if [[ $spec =~ \ -F\ ([A-Za-z0-9_:.-]+)\  ]]; then
        "${BASH_REMATCH[1]}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    elif [[ $spec =~ \ -W\ \'([^\']*)\'\  ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    else
        _redlockrun_files -f
    fi
}

complete -F _redlockrun redlockrun

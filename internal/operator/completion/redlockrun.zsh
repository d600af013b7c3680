#compdef redlockrun
# Completion of redlockrun, for zsh. Nothing of what is typed is evaluated.

_redlockrun() {
    local -a typed lines described
    local line directive word
    typed=("${(@)words[2,CURRENT-1]}")
    (( CURRENT > 2 )) || typed=()
    lines=("${(@f)$(command redlockrun __complete "${(@Q)typed}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    directive=${lines[-1]#:}
    lines[-1]=()
    case $directive in
    64)
        shift $(( lines[1] + 1 )) words
        (( CURRENT -= lines[1] + 1 ))
        _normal
        return
        ;;
    16) compset -P '--*='; _files -/; return ;;
    0) compset -P '--*='; _files; return ;;
    esac
    for line in "${(@)lines}"; do
        word=${line%%$'\t'*}
        [[ -n $word ]] || continue
        described+=("${${word//\\/\\\\}//:/\\:}${${line#$word}/#$'\t'/:}")
    done
    (( $#described )) || return 1
    if [[ $directive == 6 ]]; then
        _describe redlockrun described -S ''
    else
        _describe redlockrun described
    fi
}

if [[ $funcstack[1] == _redlockrun ]]; then
    _redlockrun "$@"
elif (( $+functions[compdef] )); then
    compdef _redlockrun redlockrun
fi

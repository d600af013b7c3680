# Completion of redlockrun, for fish. Nothing of what is typed is evaluated.

function __redlockrun_answers
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l current (string unescape -- "$raw")
    or set current (string replace -r '^["\']' '' -- "$raw")
    set -e words[1]
    set -l lines (command redlockrun __complete $words "$current" 2>/dev/null </dev/null)
    set -q lines[1]; or return
    set -l directive $lines[-1]
    set -e lines[-1]
    set -l value (string replace -r '^--[^=]*=' '' -- "$current")
    set -l before (string sub -l (math (string length -- "$current") - (string length -- "$value")) -- "$current")
    switch $directive
        case ':64'
            for i in (seq $lines[1])
                set -e words[1]
            end
            complete -C (string join ' ' -- (string escape -- $words) "$raw")
        case ':16'
            printf '%s\n' $before(__fish_complete_directories "$value" '')
        case ':0'
            printf '%s\n' $before(__fish_complete_path "$value")
        case '*'
            printf '%s\n' $lines
    end
end

complete -c redlockrun -e
complete -c redlockrun -f -a '(__redlockrun_answers)'

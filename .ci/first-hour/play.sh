#!/usr/bin/env sh
# A newcomer's first hour, played literally: each input of data-samples/first-hour (or those that are named) becomes rows, a bill and a check
# report, by the command that the README shows; where it fails, by the same with the options that its output prints. Prints which command
# did each job, and fails where neither did. Needs `chatmill` in the PATH.
set -eu
samples=$(cd "$(dirname "$0")/../../data-samples/first-hour" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$samples"/* .
[ $# -gt 0 ] || set -- room.json family.txt requests.jsonl bot.csv shop.db

# does JOB FILE OPTIONS: types the command; whether the job is done.
does() {
    case $1 in
        rows) chatmill convert "$2" --to trl-messages --out "$2.$typed" $3 > printed 2>&1 && grep -q 'kept [1-9]' printed ;;
        bill) chatmill tokens "$2" $3 > printed 2>&1 && grep -q openai-chat printed ;;
        report) chatmill check "$2" $3 > printed 2>&1 && grep -q '^[1-9][0-9]* conversation' printed ;;
    esac
}

# The options that the output prints, which a terminal may have wrapped.
advised() {
    tr '\n' ' ' < printed | tr -s ' ' | sed -n \
        -e 's/.*this reads it: \(--map [^ ;]*\)\( --assistant [^ ;]*\)\{0,1\}.*/\1\2/p' \
        -e 's/.*convert with `\([^`]*\)`.*/\1/p'
}

jobs=0 done=0
for file; do
    line=$file
    for job in rows bill report; do
        jobs=$((jobs + 1)) typed=1
        does $job "$file" "" || { options=$(advised); typed=2; does $job "$file" "$options" || typed=never; }
        [ $typed = never ] || done=$((done + 1))
        line="$line  $job: $typed"
    done
    echo "$line"
done
echo "$done of $jobs jobs by the first or second command"
[ $done = $jobs ]

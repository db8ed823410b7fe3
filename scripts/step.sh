#!/usr/bin/env bash
# step.sh NAME COMMAND... runs one step of a make target under a heading and says how long it took.
set -uo pipefail

name=$1
shift
printf '== %s\n' "$name"
SECONDS=0
"$@"
status=$?
if [ "$status" -eq 0 ]; then result=ok; else result="FAILED (exit status $status)"; fi
printf '== %s: %s after %d s\n\n' "$name" "$result" "$SECONDS"
exit "$status"

#!/usr/bin/env bash
# fuzz.sh [TIME] finds every fuzz target and runs each for TIME (5s): its seeds first, then new input.
# A failing input stays below the package's testdata/fuzz and belongs into the commit that mends it.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-5s}

targets() {
	grep -rEo --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]*\(' . |
		sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*)\($|\1 \2|' | sort
}

# fuzz runs one target. The fuzzing engine of Go sometimes reports the end of its own time as a failure,
# "context deadline exceeded" and no failing input: that run says nothing about the target and is repeated.
fuzz() {
	local folder=$1 target=$2 try out
	for try in 1 2 3; do
		if out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$folder" 2>&1); then
			printf '%s %s: %s\n' "$folder" "$target" "$(grep -E 'execs:' <<<"$out" | tail -n 1 | sed -E 's/^fuzz: //')"
			return 0
		fi
		if grep -q 'Failing input written' <<<"$out" || ! grep -q 'context deadline exceeded' <<<"$out"; then
			break
		fi
		echo "$folder $target: run $try ended at its own deadline, once more"
	done
	printf '%s %s FAILED\n%s\n' "$folder" "$target" "$out" >&2
	return 1
}

failed=0
count=0
while read -r folder target; do
	count=$((count + 1))
	fuzz "$folder" "$target" </dev/null || failed=$((failed + 1))
done < <(targets)
if [ "$count" -eq 0 ]; then
	echo "fuzz: found no fuzz target, which cannot be right" >&2
	exit 1
fi
echo "fuzz: $count targets, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# size.sh measures the binary, the time until the program is ready, and its memory at rest.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./bench/load "$@" size

#!/usr/bin/env bash
# page.sh measures the processor time of a waiting page and of a JSON poll, whole process, side by side
# with nginx serving files of the same sizes, plain and over TLS. Needs nginx and wrk.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./bench/load "$@" page

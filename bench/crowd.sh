#!/usr/bin/env bash
# crowd.sh lets 2,000 visitors meet a room of 100 until every one of them has been served, and the same
# with kill -9: about 22 minutes. The shorter form of the same test is part of make test.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test -count 1 -timeout 40m -run 'TwoThousand|KillNine' -v ./test/endtoend -crowd "${1:-22m}"

#!/usr/bin/env bash
# needs.sh makes sure that the programs which the tests call are there. On Debian as root it
# installs what is missing, without questions and without starting a service; elsewhere it fails
# and says what to type. It never lets a test run without what it needs.
set -euo pipefail

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# The Debian package, and a command or a file that shows that it is there.
needs() {
	cat <<-'LIST'
		gcc               gcc
		libc6-dev         /usr/include/stdio.h
		chromium          chromium
		fonts-dejavu-core /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
		nginx-light       nginx
		wrk               wrk
		curl              curl
		openssl           openssl
	LIST
}

missing() {
	local package sign
	while read -r package sign; do
		case $sign in
		/*) [ -e "$sign" ] || printf '%s ' "$package" ;;
		*) command -v "$sign" >/dev/null || printf '%s ' "$package" ;;
		esac
	done < <(needs)
}

# install_quietly keeps Debian from starting what it installs: a policy of "no" while it works.
install_quietly() {
	local policy=/usr/sbin/policy-rc.d
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		# shellcheck disable=SC2064 # the name is meant as it is now
		trap "rm -f $policy" EXIT
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=300 update -q </dev/null
	apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends "$@" </dev/null
}

if ! command -v go >/dev/null; then
	echo "needs: Go is missing; install the version that go.mod names from https://go.dev/dl/ and put its bin folder on the PATH" >&2
	exit 1
fi

read -r -a packages <<<"$(missing)"
if [ "${#packages[@]}" -eq 0 ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	{
		echo "needs: missing: ${packages[*]}. On Debian or Ubuntu type"
		echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages[*]}"
		echo "elsewhere install the programs of the same names"
	} >&2
	exit 1
fi

echo "needs: installing ${packages[*]}"
install_quietly "${packages[@]}"
still=$(missing)
if [ -n "$still" ]; then
	echo "needs: still missing after the installation: $still" >&2
	exit 1
fi

#!/bin/sh
# Installs chatmill @VERSION@ on Linux: the program, manual pages and completions, below PREFIX (~/.local).
#
#   sh install.sh FROM [PREFIX]    FROM is the folder or the address (https://…) where the tarball and its checksum are
#
# Nothing is unpacked before the checksum of the tarball was compared. `rm` of the printed files removes everything.
set -eu
version='@VERSION@'

fail() {
    echo "install.sh: $1" >&2
    exit 1
}
[ $# -ge 1 ] || fail 'usage: sh install.sh FROM [PREFIX], where FROM is a folder or an address'
from=${1%/}
prefix=${2:-$HOME/.local}
[ "$(uname -s)" = Linux ] || fail "there is a tarball for Linux only; elsewhere, install the wheel"
name="chatmill-$version-$(uname -m)-linux"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Copies or downloads a file.
get() {
    case $from in
    *://*) curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" || wget --quiet --output-document="$work/$1" "$from/$1" ;;
    *) cp "$from/$1" "$work/$1" ;;
    esac || fail "cannot get $from/$1"
}
get "$name.tar.gz"
get "$name.tar.gz.sha256"
cd "$work"
sha256sum -c "$name.tar.gz.sha256" >/dev/null 2>&1 || fail "the checksum of $name.tar.gz is wrong: nothing was installed"
tar -xzf "$name.tar.gz"
cd "$name"

# put FILE FOLDER [NAME]
put() {
    mkdir -p "$prefix/$2"
    cp "$1" "$prefix/$2/${3:-${1##*/}}" && echo "$prefix/$2/${3:-${1##*/}}"
}
put chatmill bin
put completions/chatmill.bash share/bash-completion/completions chatmill
put completions/_chatmill share/zsh/site-functions
put completions/chatmill.fish share/fish/vendor_completions.d
for page in man/man1/*; do put "$page" share/man/man1; done
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "note: $prefix/bin is not on the PATH" ;; esac

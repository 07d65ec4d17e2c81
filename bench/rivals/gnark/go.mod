module fieldspar/rival-msm-gnark

go 1.25.0

require github.com/consensys/gnark-crypto v0.20.1

// Filled in by build.sh with the folders that the user names:
// replace github.com/consensys/gnark-crypto => SOURCES/gnark-crypto
// replace github.com/bits-and-blooms/bitset => SOURCES/bitset
// replace golang.org/x/sys => SOURCES/sys
// replace golang.org/x/sync => SOURCES/sync

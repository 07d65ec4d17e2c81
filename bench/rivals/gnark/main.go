// rival-msm-gnark CURVE POINTS SCALARS THREADS: reads both files (points as x and y, plain values in
// little-endian limbs; scalars of 32 bytes), says so in a line, and answers each line "run K" with the
// milliseconds that each of K sums took and the point, compressed as arkworks does it.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	bls377 "github.com/consensys/gnark-crypto/ecc/bls12-377"
	fr377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	fr381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254"
	fr254 "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// reversed gives the bytes big-endian, as gnark-crypto's SetBytes takes them.
func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return r
}

// little is arkworks' compressed form of BLS12-377 and BN254.
func little(x []byte, infinity, large bool) []byte {
	r := reversed(x)
	if infinity {
		r[len(r)-1] |= 0x40
	} else if large {
		r[len(r)-1] |= 0x80
	}
	return r
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	curve, pointsPath, scalarsPath := os.Args[1], os.Args[2], os.Args[3]
	threads, err := strconv.Atoi(os.Args[4])
	check(err)
	runtime.GOMAXPROCS(threads)
	points, err := os.ReadFile(pointsPath)
	check(err)
	scalars, err := os.ReadFile(scalarsPath)
	check(err)
	config := ecc.MultiExpConfig{NbTasks: threads}
	n := len(scalars) / 32
	var sum func() []byte
	switch curve {
	case "bls12-377":
		p, s := make([]bls377.G1Affine, n), make([]fr377.Element, n)
		for i := range p {
			p[i].X.SetBytes(reversed(points[96*i : 96*i+48]))
			p[i].Y.SetBytes(reversed(points[96*i+48 : 96*i+96]))
			s[i].SetBytes(reversed(scalars[32*i : 32*i+32]))
		}
		sum = func() []byte {
			var r bls377.G1Affine
			_, err := r.MultiExp(p, s, config)
			check(err)
			x := r.X.Bytes()
			return little(x[:], r.IsInfinity(), r.Y.LexicographicallyLargest())
		}
	case "bls12-381":
		p, s := make([]bls381.G1Affine, n), make([]fr381.Element, n)
		for i := range p {
			p[i].X.SetBytes(reversed(points[96*i : 96*i+48]))
			p[i].Y.SetBytes(reversed(points[96*i+48 : 96*i+96]))
			s[i].SetBytes(reversed(scalars[32*i : 32*i+32]))
		}
		sum = func() []byte {
			var r bls381.G1Affine
			_, err := r.MultiExp(p, s, config)
			check(err)
			b := r.Bytes()
			return b[:]
		}
	case "bn254":
		p, s := make([]bn254.G1Affine, n), make([]fr254.Element, n)
		for i := range p {
			p[i].X.SetBytes(reversed(points[64*i : 64*i+32]))
			p[i].Y.SetBytes(reversed(points[64*i+32 : 64*i+64]))
			s[i].SetBytes(reversed(scalars[32*i : 32*i+32]))
		}
		sum = func() []byte {
			var r bn254.G1Affine
			_, err := r.MultiExp(p, s, config)
			check(err)
			x := r.X.Bytes()
			return little(x[:], r.IsInfinity(), r.Y.LexicographicallyLargest())
		}
	default:
		panic("no curve " + curve)
	}
	fmt.Println(`{"version":"gnark-crypto"}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		times, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "run "))
		check(err)
		var result []byte
		start := time.Now()
		for range times {
			result = sum()
		}
		ms := time.Since(start).Seconds() * 1e3 / float64(times)
		fmt.Printf("{\"ms\":%g,\"result\":\"%s\"}\n", ms, hex.EncodeToString(result))
	}
}

//! How fast an NVIDIA GPU multiplies, squares and adds with the field and curve code of the CUDA kernels,
//! beside what its multipliers allow.
//!
//! `gpu_field FOLDER [MILLISECONDS]` takes every `CURVE_NAME_tTHREADS.cubin` of the folder, where CURVE is
//! 377 (in its twisted Edwards form, unless NAME has `xyzz`), 381 or 254, and measures sums of points, or
//! products if NAME has `field`. From this crate's folder, for a GPU of compute capability 9.0:
//!
//! ```sh
//! nvcc -cubin -arch=sm_90 -std=c++17 -I src/cuda/kernels -DMSM_CURVE=377 -DTHREADS=512 -DBLOCKS=1 \
//!     -DPARTS=6 -o FOLDER/377_edwards_t512.cubin examples/gpu_field/bench.cu
//! nvcc -cubin -arch=sm_90 -std=c++17 -I src/cuda/kernels -DMSM_CURVE=377 -DPARTS=1 \
//!     -o FOLDER/377_field_t256.cubin examples/gpu_field/bench.cu
//! ```
//!
//! Every kernel's result is compared with the processor's before it is timed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{env, fs, path::Path};

use fieldspar_device::cuda::{Arg, Buffer, Cuda, Function, Module, Stream};
use fieldspar_msm::{
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve, edwards},
    field::Fp,
    inputs, reference,
};

/// Different points; the table repeats them.
const POINTS: usize = 1 << 12;
/// Points of the table, far more than a cache holds.
const TABLE: usize = 1 << 21;
/// Wide products of limbs that a multiprocessor issues in a cycle, times 2: those of one half-rate pipe.
const SLOTS: f64 = 64.0;

/// One measured kernel.
struct Row {
    name: &'static str,
    /// Wide products of limbs of one operation: BLS12-377 (Edwards form), BLS12-381, BN254. A product of
    /// which only the low half is wanted counts for one half.
    wide: [f64; 3],
}

const ROWS: [Row; 6] = [
    Row {
        name: "bench_mul",
        wide: [276.0, 294.0, 132.0],
    },
    Row {
        name: "bench_sqr",
        wide: [210.0, 228.0, 104.0],
    },
    Row {
        name: "bench_muladd",
        wide: [420.0, 438.0, 196.0],
    },
    Row {
        name: "bench_madd",
        wide: [7.0 * 276.0, 2658.0, 1196.0],
    },
    Row {
        name: "bench_add",
        wide: [9.0 * 276.0, 3834.0, 1724.0],
    },
    Row {
        name: "bench_double",
        wide: [4.0 * 276.0 + 4.0 * 210.0, 2298.0, 1036.0],
    },
];

/// What a kernel works on.
struct Bench<'a, C, const N: usize> {
    stream: &'a Stream,
    module: &'a Module,
    multiprocessors: u32,
    /// Cycles of all multiprocessors in a second.
    cycles: f64,
    threads: u32,
    label: String,
    milliseconds: f64,
    points: &'a [Affine<C, N>],
}

fn flat<C: Curve<N>, const N: usize>(values: &[Fp<C, N>]) -> Vec<u64> {
    values.iter().flat_map(|v| *v.montgomery()).collect()
}

impl<C: Curve<N>, const N: usize> Bench<'_, C, N> {
    fn function(&self, name: &'static str) -> (Function, u32) {
        let function = self.module.function(name).unwrap();
        let blocks = function.max_active_blocks(self.threads, 0).unwrap();
        (function, blocks * self.multiprocessors * 2)
    }

    /// Whether the image was compiled with this kernel.
    fn has(&self, name: &'static str) -> bool {
        self.module.function(name).is_ok()
    }

    /// Launches until one takes long enough, and prints the best of five.
    fn time(&self, name: &'static str, row: usize, of: &str, launch: impl Fn(&Function, u32, u32)) {
        let (function, blocks) = self.function(name);
        let mut times = 16;
        let mut best = f64::INFINITY;
        let once = |times| {
            let start = self.stream.event().unwrap();
            launch(&function, blocks, times);
            let end = self.stream.event().unwrap();
            self.stream.synchronize().unwrap();
            f64::from(self.stream.elapsed(&start, &end).unwrap())
        };
        while once(times) < self.milliseconds {
            times *= 2;
        }
        for _ in 0..5 {
            best = best.min(once(times));
        }
        let operations = f64::from(blocks) * f64::from(self.threads) * f64::from(times);
        let rate = operations / (best * 1e-3);
        let which = if N == 4 {
            2
        } else {
            usize::from(C::P[0] as u32 != 1)
        };
        let wide = ROWS[row].wide[which];
        let share = if wide > 0.0 {
            format!(
                "{:5.1} %",
                100.0 * rate * 2.0 * wide / (SLOTS * self.cycles)
            )
        } else {
            "      -".into()
        };
        println!(
            "{:<24} {name:<13} {of:<12} {:7.3} G/s  {share} of the multipliers  {:3} registers, {:2} blocks of {}",
            self.label,
            rate * 1e-9,
            function.registers().unwrap(),
            blocks / self.multiprocessors / 2,
            self.threads,
        );
    }

    /// The first `words` words of what a kernel writes, from a launch of 2 blocks.
    fn small(
        &self,
        name: &'static str,
        first: &Buffer<u64>,
        second: Arg<'_>,
        words: usize,
        times: u32,
    ) -> Vec<u64> {
        let (function, _) = self.function(name);
        let out = self
            .stream
            .zeros::<u64>(2 * self.threads as usize * 4 * N)
            .unwrap();
        let args = [
            Arg::Ptr(first.as_ptr()),
            second,
            Arg::Ptr(out.as_ptr()),
            Arg::U32(times),
        ];
        self.stream
            .launch(&function, (2, 1, 1), (self.threads, 1, 1), 0, &args)
            .unwrap();
        self.stream.download(&out, 0..words).unwrap()
    }

    fn fields(&self) {
        let count = 1 << 20;
        let value = |i: usize| self.points[i % POINTS].x;
        let other = |i: usize| self.points[i % POINTS].y;
        let a = self
            .stream
            .upload(&flat::<C, N>(&(0..count).map(value).collect::<Vec<_>>()))
            .unwrap();
        let b = self
            .stream
            .upload(&flat::<C, N>(&(0..count).map(other).collect::<Vec<_>>()))
            .unwrap();
        let out = self.stream.zeros::<u64>(count * N).unwrap();
        type Step<C, const N: usize> = fn(&mut [Fp<C, N>; 3]);
        let rows: [(usize, Step<C, N>); 3] = [
            (0, |s| s[0] = s[0].mul(&s[1])),
            (1, |s| s[0] = s[0].square()),
            (2, |s| {
                let w = s[0].mul(&s[1]).add(&s[2].mul(&s[0]));
                (s[2], s[0]) = (s[0], w);
            }),
        ];
        for (row, step) in rows {
            let name = ROWS[row].name;
            if !self.has(name) {
                continue;
            }
            let got = self.small(
                name,
                &a,
                Arg::Ptr(b.as_ptr()),
                self.threads as usize * N,
                37,
            );
            for (i, got) in got.chunks_exact(N).enumerate() {
                let mut state = [value(i), other(i), other(i)];
                (0..37).for_each(|_| step(&mut state));
                assert_eq!(got, state[0].montgomery(), "{} {name} {i}", self.label);
            }
            self.time(name, row, "", |function, blocks, times| {
                let blocks = blocks.min(count as u32 / self.threads);
                let args = [
                    Arg::Ptr(a.as_ptr()),
                    Arg::Ptr(b.as_ptr()),
                    Arg::Ptr(out.as_ptr()),
                    Arg::U32(times),
                ];
                self.stream
                    .launch(function, (blocks, 1, 1), (self.threads, 1, 1), 0, &args)
                    .unwrap();
            });
        }
    }

    /// Sums of points of a table of `records`, and what they are by `finish`.
    fn sums(
        &self,
        records: &[u64],
        accumulators: &[u64],
        finish: impl Fn(&[Fp<C, N>]) -> Affine<C, N>,
    ) {
        let mut table = Vec::with_capacity(TABLE / POINTS * records.len());
        for _ in 0..TABLE / POINTS {
            table.extend_from_slice(records);
        }
        let table = self.stream.upload(&table).unwrap();
        let full = self.stream.upload(accumulators).unwrap();
        let out = self.stream.zeros::<u64>((1 << 20) * 4 * N).unwrap();
        let sum = |t: u32,
                   of: &dyn Fn(&mut Affine<C, N>, u32, &mut u32),
                   times: u32,
                   mut acc: Affine<C, N>| {
            let mut s = t.wrapping_mul(2_654_435_761).wrapping_add(12345);
            for i in 0..times {
                of(&mut acc, i, &mut s);
            }
            acc
        };
        let words = self.threads as usize * 4 * N;
        let check =
            |name: &'static str, buffer, mask, times, want: &dyn Fn(u32) -> Affine<C, N>| {
                if !self.has(name) {
                    return;
                }
                let got = self.small(name, buffer, Arg::U32(mask), words, times);
                for (t, got) in got.chunks_exact(4 * N).enumerate().step_by(5) {
                    let coordinates: Vec<_> = got
                        .chunks_exact(N)
                        .map(|c| Fp::from_montgomery(c.try_into().unwrap()).expect("canonical"))
                        .collect();
                    assert_eq!(
                        finish(&coordinates),
                        want(t as u32),
                        "{} {name} {t}",
                        self.label
                    );
                }
            };
        // Four points first: every thread meets doubles and inverses.
        for mask in [3, POINTS as u32 - 1] {
            check("bench_madd", &table, mask, 40, &|t| {
                let step = |acc: &mut Affine<C, N>, _, s: &mut u32| {
                    *s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let p = self.points[((*s >> 4) & mask) as usize];
                    *acc = reference::add(acc, &if *s >> 31 == 1 { p.neg() } else { p });
                };
                sum(t, &step, 40, Affine::INFINITY)
            });
            check("bench_add", &full, mask, 40, &|t| {
                let at = |i: u32| self.points[(t.wrapping_add(i * 77) & mask) as usize];
                sum(
                    t,
                    &|acc, i, _| *acc = reference::add(acc, &at(i)),
                    40,
                    at(0),
                )
            });
            check("bench_double", &full, mask, 40, &|t| {
                let at = self.points[(t & mask) as usize];
                sum(t, &|acc, _, _| *acc = reference::add(acc, acc), 40, at)
            });
        }
        for (row, name, buffer, mask) in [
            (3, "bench_madd", &table, TABLE as u32 - 1),
            (3, "bench_madd", &table, POINTS as u32 - 1),
            (4, "bench_add", &full, POINTS as u32 - 1),
            (5, "bench_double", &full, POINTS as u32 - 1),
        ] {
            if !self.has(name) {
                continue;
            }
            self.time(
                name,
                row,
                &format!("of {}", mask + 1),
                |function, blocks, times| {
                    let args = [
                        Arg::Ptr(buffer.as_ptr()),
                        Arg::U32(mask),
                        Arg::Ptr(out.as_ptr()),
                        Arg::U32(times),
                    ];
                    self.stream
                        .launch(function, (blocks, 1, 1), (self.threads, 1, 1), 0, &args)
                        .unwrap();
                },
            );
        }
    }

    fn weierstrass(&self) {
        let records: Vec<_> = self.points.iter().flat_map(|p| [p.x, p.y]).collect();
        let full: Vec<_> = self
            .points
            .iter()
            .flat_map(|p| [p.x, p.y, Fp::ONE, Fp::ONE])
            .collect();
        self.sums(&flat(&records), &flat(&full), |c| {
            let Some(inverse) = c[3].invert() else {
                return Affine::INFINITY;
            };
            Affine {
                x: c[0].mul(&c[2].invert().unwrap()),
                y: c[1].mul(&inverse),
            }
        });
    }
}

impl Bench<'_, Bls12_377, 6> {
    fn edwards(&self) {
        let cached = edwards::Cached::from_weierstrass(self.points);
        let records = cached.iter().map(|c| c.unwrap());
        let records: Vec<_> = records.flat_map(|c| [c.minus, c.plus, c.product]).collect();
        let full = cached
            .iter()
            .map(|c| edwards::Extended::IDENTITY.add_cached(&c.unwrap()));
        let full: Vec<_> = full.flat_map(|p| [p.x, p.y, p.z, p.t]).collect();
        self.sums(&flat(&records), &flat(&full), |c| {
            let [x, y, z, t] = [c[0], c[1], c[2], c[3]];
            edwards::Extended { x, y, z, t }.to_weierstrass()
        });
    }
}

fn open<'a, C: Curve<N>, const N: usize>(
    stream: &'a Stream,
    module: &'a Module,
    label: &str,
    milliseconds: f64,
    points: &'a [Affine<C, N>],
) -> Bench<'a, C, N> {
    let multiprocessors = stream.cuda().info().multiprocessors;
    let threads = label.rsplit_once("_t").and_then(|(_, t)| t.parse().ok());
    Bench {
        stream,
        module,
        multiprocessors,
        cycles: 1.98e9 * f64::from(multiprocessors),
        threads: threads.expect("a name that ends in _tTHREADS"),
        label: label.to_owned(),
        milliseconds,
        points,
    }
}

fn main() {
    let mut args = env::args().skip(1);
    let folder = args.next().expect("gpu_field FOLDER [MILLISECONDS]");
    let milliseconds = args.next().map_or(20.0, |t| t.parse().expect("a number"));
    let gpu = Cuda::open(0).expect("an NVIDIA GPU");
    println!(
        "{}; shares of 64 slots a cycle and multiprocessor at 1.98 GHz",
        gpu.name()
    );
    let (a, b, c) = (
        inputs::points::<Bls12_377, 6>(1, POINTS),
        inputs::points::<Bls12_381, 6>(1, POINTS),
        inputs::points::<Bn254, 4>(1, POINTS),
    );
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let Some(label) = file
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.strip_suffix(".cubin"))
        else {
            continue;
        };
        let stream = gpu.stream().unwrap();
        let module = gpu
            .load_module(&fs::read(Path::new(&file)).unwrap())
            .unwrap();
        let fields = label.contains("field");
        match &label[..3] {
            "377" => {
                let bench = open(&stream, &module, label, milliseconds, &a);
                if fields {
                    bench.fields();
                } else if label.contains("xyzz") {
                    bench.weierstrass();
                } else {
                    bench.edwards();
                }
            }
            "381" => {
                let bench = open(&stream, &module, label, milliseconds, &b);
                if fields {
                    bench.fields()
                } else {
                    bench.weierstrass()
                }
            }
            "254" => {
                let bench = open(&stream, &module, label, milliseconds, &c);
                if fields {
                    bench.fields()
                } else {
                    bench.weierstrass()
                }
            }
            _ => panic!("{label} names no curve"),
        }
    }
}

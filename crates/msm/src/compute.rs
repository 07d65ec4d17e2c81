//! The sum: checks, the choice of the method, and the variant's code.
#![forbid(unsafe_code)]

use crate::{
    bases::{Bases, Level},
    cpu::{Arithmetic, Portable, Scalar},
    cuda::{CudaEngine, Points, Source},
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve},
    digits::{Digits, Lengths, Wide, Windows},
    engine::{Engine, Variant},
    error::Error,
    kernel::Kernel,
    scalars::Scalars,
    schedule::{
        self,
        plan::{Costs, Plan},
        straus,
    },
};

/// `sum of scalars[i] * bases[i]` as an affine point.
///
/// Variable-time: the scalars are public. The result does not depend on the engine or on the number
/// of threads (rayon's current pool).
///
/// # Errors
///
/// [`Error::Length`] unless there are as many scalars as points, [`Error::Scalar`] for one that is not
/// below the order.
pub fn msm<'a, C: Curve<N>, const N: usize, L: Level>(
    engine: &Engine,
    bases: &Bases<C, N, L>,
    scalars: impl Into<Scalars<'a>>,
) -> Result<Affine<C, N>, Error> {
    let sums = msm_many(engine, bases, &[scalars.into()])?;
    Ok(sums.into_iter().next().unwrap_or_default())
}

/// [`msm`] for several vectors of scalars on the same bases. With few points, the vectors share
/// their inversions.
///
/// # Errors
///
/// As [`msm`], with the index of the vector.
pub fn msm_many<C: Curve<N>, const N: usize, L: Level>(
    engine: &Engine,
    bases: &Bases<C, N, L>,
    vectors: &[Scalars<'_>],
) -> Result<Vec<Affine<C, N>>, Error> {
    for (vector, scalars) in vectors.iter().enumerate() {
        if scalars.len() != bases.len() {
            return Err(Error::Length {
                vector,
                points: bases.len(),
                scalars: scalars.len(),
            });
        }
    }
    if let Some(cuda) = engine.cuda()
        && bases.len() >= FEW
    {
        let each = vectors.iter().enumerate();
        let sums = each.map(|(i, s)| on_gpu(cuda, bases, i, Source::Host(*s)));
        return sums.collect();
    }
    // `(r - s) P = -s P` in the subgroup only.
    let signs = bases.counts_as_subgroup();
    let mut values = Values {
        vectors: Vec::with_capacity(vectors.len()),
        signs,
    };
    for (vector, scalars) in vectors.iter().enumerate() {
        let own = scalars.values(&C::ORDER, signs);
        let mut own = own.map_err(|index| Scalars::error(vector, index, C::NAME))?;
        for &index in bases.infinite() {
            own[index] = [0; 4];
        }
        values.vectors.push(own);
    }
    Ok(by_variant(engine.variant(), bases.points(), values))
}

/// [`msm`] on a GPU with scalars in page-locked memory, which come over the bus at its full speed.
///
/// # Errors
///
/// As [`msm`].
pub fn msm_pinned<C: Curve<N>, const N: usize, L: Level>(
    cuda: &CudaEngine,
    bases: &Bases<C, N, L>,
    scalars: &fieldspar_device::cuda::Pinned<[u64; 4]>,
) -> Result<Affine<C, N>, Error> {
    if scalars.len() != bases.len() {
        return Err(Error::Length {
            vector: 0,
            points: bases.len(),
            scalars: scalars.len(),
        });
    }
    on_gpu(cuda, bases, 0, Source::Pinned(scalars))
}

/// A vector's sum on a GPU, with the points that are there already if they are.
fn on_gpu<C: Curve<N>, const N: usize, L: Level>(
    cuda: &CudaEngine,
    bases: &Bases<C, N, L>,
    vector: usize,
    source: Source<'_>,
) -> Result<Affine<C, N>, Error> {
    let points = match bases.resident() {
        Some(resident) if resident.engine() == cuda => Points::Resident(resident),
        _ => Points::Host(bases.points()),
    };
    let sum = cuda.sum(&points, bases.counts_as_subgroup(), source)?;
    sum.map_err(|index| Scalars::error(vector, index, C::NAME))
}

/// Vectors of scalars, as [`Scalars::values`] gives them.
#[derive(Debug)]
pub struct Values {
    vectors: Vec<Vec<Wide>>,
    signs: bool,
}

/// Runs the variant's code. An engine of a variant exists only where its token does, so nothing falls
/// back to the portable code in truth.
fn by_variant<C: Curve<N>, const N: usize>(
    variant: Variant,
    points: &[Affine<C, N>],
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))] mut values: Values,
) -> Vec<Affine<C, N>> {
    #[cfg(target_arch = "x86_64")]
    {
        if variant == Variant::Avx512 {
            match C::vector_sums(points, values) {
                Ok(sums) => return sums,
                Err(back) => values = back,
            }
        }
        if variant == Variant::Adx
            && let Some(adx) = crate::cpu::x86_64::adx::Adx::new()
        {
            return sums(Scalar(adx), adx, &ADX, points, values);
        }
    }
    let _ = variant;
    sums(Scalar(Portable), Portable, &PORTABLE, points, values)
}

/// The windows that [`msm`] would choose for such scalars of points in the subgroup, and their cost.
///
/// # Errors
///
/// [`Error::Scalar`] for a scalar that is not below the order.
pub fn plan<'a, C: Curve<N>, const N: usize>(
    engine: &Engine,
    scalars: impl Into<Scalars<'a>>,
) -> Result<Plan, Error> {
    let values = scalars.into().values(&C::ORDER, true);
    let values = values.map_err(|index| Scalars::error(0, index, C::NAME))?;
    let costs = costs(engine.variant());
    let mut plan = schedule::plan::best(&Lengths::of(&values), costs);
    // A product of four limbs takes about half the time of one of six.
    plan.expected_ms *= (N * N + N) as f64 / 42.0;
    Ok(plan)
}

/// What the variant's steps cost.
const fn costs(variant: Variant) -> &'static Costs {
    match variant {
        Variant::Portable => &PORTABLE,
        Variant::Adx => &ADX,
        Variant::Avx512 => &AVX512,
    }
}

/// Costs of the portable variant.
const PORTABLE: Costs = Costs {
    digit: 0.03,
    alone: 1.5,
    addition_ns: 400.0,
};

/// Costs of the assembly.
const ADX: Costs = Costs {
    digit: 0.05,
    alone: 1.5,
    addition_ns: 250.0,
};

/// Costs of the vectors.
const AVX512: Costs = Costs {
    digit: 0.17,
    alone: 4.5,
    addition_ns: 100.0,
};

/// The vector kernel is made for coordinates of certain sizes: a curve names its own.
pub trait VectorSums<const N: usize>: Sized {
    /// The sums of the vectors of scalars, which come back if there is no such kernel here.
    #[doc(hidden)]
    fn vector_sums(
        points: &[Affine<Self, N>],
        values: Values,
    ) -> Result<Vec<Affine<Self, N>>, Values> {
        let _ = points;
        Err(values)
    }
}

macro_rules! vector_sums {
    ($curve:ty, $words:literal) => {
        impl VectorSums<$words> for $curve {
            #[cfg(target_arch = "x86_64")]
            fn vector_sums(
                points: &[Affine<Self, $words>],
                values: Values,
            ) -> Result<Vec<Affine<Self, $words>>, Values> {
                use crate::cpu::x86_64::{adx::Adx, avx512::Ifma};
                match (Ifma::new(), Adx::new()) {
                    (Some(kernel), Some(adx)) => Ok(sums(kernel, adx, &AVX512, points, values)),
                    _ => Err(values),
                }
            }
        }
    };
}

vector_sums!(Bls12_377, 6);
vector_sums!(Bls12_381, 6);
vector_sums!(Bn254, 4);

/// Below this many points that count, tables beat buckets, and on the processor at that.
const FEW: usize = 24;

fn sums<K, A, C, const N: usize>(
    kernel: K,
    arithmetic: A,
    costs: &Costs,
    points: &[Affine<C, N>],
    values: Values,
) -> Vec<Affine<C, N>>
where
    K: Kernel<C, N>,
    A: Arithmetic,
    C: Curve<N>,
{
    let Values { vectors, signs } = values;
    let mut sums = vec![Affine::INFINITY; vectors.len()];
    let (mut digits, mut places) = (Vec::new(), Vec::new());
    for (place, values) in vectors.into_iter().enumerate() {
        let lengths = Lengths::of(&values);
        let count = lengths.reaching(0);
        if count == 0 {
            continue;
        }
        if count < FEW as u64 {
            let (mut few, mut own) = (Vec::new(), Vec::new());
            for (point, value) in points.iter().zip(&values) {
                if *value != [0; 4] {
                    few.push(*point);
                    own.push(*value);
                }
            }
            sums[place] = straus::msm(arithmetic, &few, &own);
            continue;
        }
        let width = schedule::plan::best(&lengths, costs).width;
        digits.push(Digits::new(values, signs, Windows::new(width, &lengths)));
        places.push(place);
    }
    let many = if digits.is_empty() {
        Vec::new()
    } else {
        schedule::run(kernel, arithmetic, &kernel.table(points), &digits)
    };
    for (place, sum) in places.into_iter().zip(many) {
        sums[place] = sum;
    }
    sums
}

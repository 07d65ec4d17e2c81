//! The kernel over lanes: each call enters the instruction set once.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use super::{
    Lanes, Task,
    add::{BATCH, Scratch},
    field::Field,
    record::{Record, Record8, Record12, negate},
};
use crate::{
    curve::{Affine, Curve},
    kernel::{Kernel, Operands, Pair},
};

/// Batch-affine additions in the lanes of `A`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<A>(A);

impl<A: Lanes> Vector<A> {
    /// `None` if this processor lacks the instructions.
    pub(crate) fn new() -> Option<Self> {
        A::detect().map(Self)
    }
}

struct Load<'a, C, P, const W: usize, const L: usize> {
    from: &'a [Affine<C, W>],
    to: &'a mut [P],
}

impl<C: Curve<W>, P: Record, const W: usize, const L: usize> Task for Load<'_, C, P, W, L> {
    type Output = ();
    #[inline(always)]
    fn run<A: Lanes>(self, lanes: A) {
        Field::<_, C, W, L>::new(lanes).load_points(self.from, self.to);
    }
}

struct Store<'a, C, P, const W: usize, const L: usize> {
    from: &'a [P],
    to: &'a mut [Affine<C, W>],
}

impl<C: Curve<W>, P: Record, const W: usize, const L: usize> Task for Store<'_, C, P, W, L> {
    type Output = ();
    #[inline(always)]
    fn run<A: Lanes>(self, lanes: A) {
        Field::<_, C, W, L>::new(lanes).store_points(self.from, self.to);
    }
}

struct Add<'a, C, P, const W: usize, const L: usize, const SCATTERED: bool> {
    left: &'a [P],
    right: &'a [P],
    pairs: &'a [Pair],
    out: &'a mut [P],
    scratch: &'a mut Scratch<L>,
    curve: PhantomData<C>,
}

impl<C: Curve<W>, P: Record, const W: usize, const L: usize, const SCATTERED: bool> Task
    for Add<'_, C, P, W, L, SCATTERED>
{
    type Output = ();
    #[inline(always)]
    fn run<A: Lanes>(self, lanes: A) {
        Field::<_, C, W, L>::new(lanes).add_pairs::<P, SCATTERED>(
            self.left,
            self.right,
            self.pairs,
            self.out,
            self.scratch,
        );
    }
}

/// The kernel for coordinates of `$words` words, as `$limbs` limbs.
macro_rules! kernel {
    ($words:literal, $limbs:literal, $record:ty) => {
        impl<A: Lanes, C: Curve<$words>> Kernel<C, $words> for Vector<A> {
            type Point = $record;
            const INFINITY: $record = <$record>::ZERO;
            type Scratch = Scratch<$limbs>;
            const CHUNK: usize = 16_384;
            const FEW: usize = 256;

            fn scratch(self, pairs: usize) -> Self::Scratch {
                Scratch::new(pairs, BATCH)
            }

            fn load(self, from: &[Affine<C, $words>], to: &mut [$record]) {
                self.0
                    .enter(Load::<C, $record, $words, $limbs> { from, to });
            }

            fn store(self, from: &[$record], to: &mut [Affine<C, $words>]) {
                self.0
                    .enter(Store::<C, $record, $words, $limbs> { from, to });
            }

            fn negate(self, point: &$record) -> $record {
                negate::<C, _, $words>(point)
            }

            fn add(
                self,
                left: &[$record],
                right: &[$record],
                pairs: &[Pair],
                out: &mut [$record],
                scratch: &mut Self::Scratch,
                operands: Operands,
            ) {
                let curve = PhantomData;
                match operands {
                    Operands::Scattered => {
                        self.0.enter(Add::<C, $record, $words, $limbs, true> {
                            left,
                            right,
                            pairs,
                            out,
                            scratch,
                            curve,
                        });
                    }
                    Operands::Near => {
                        self.0.enter(Add::<C, $record, $words, $limbs, false> {
                            left,
                            right,
                            pairs,
                            out,
                            scratch,
                            curve,
                        });
                    }
                }
            }
        }
    };
}

kernel!(6, 8, Record12);
kernel!(4, 5, Record8);

//! p3-multi-stark's own kinds of AIR over our PCS in place of p3-whir's prover: its own verifier
//! accepts, and the whole proof has the bytes it has over p3-whir's prover.

use fieldspar_whir::field::F;
use p3_air::{Air, AirBuilder, BaseAir, BoundaryEnd, BoundaryPublic, WindowAccess};
use p3_field::PrimeCharacteristicRing;
use p3_lookup::{Count, InteractionBuilder};
use p3_matrix::dense::RowMajorMatrix;

use crate::statement::Instance;

provers!(Small);

/// One type for the AIRs of these tests: the prover's folders are compiled once.
enum Small {
    /// a, b -> b, a + b; first row and last value public, by constraints.
    Fibonacci,
    /// The same with the public cells pinned by their place.
    PinnedFibonacci,
    /// One column that is the sum of columns of period 2 and 4.
    Periodic,
    /// Two columns that follow a fixed one, and its next row.
    Preprocessed(usize),
    /// fixed + product of the periodic columns.
    PeriodicPreprocessed(usize),
    /// Two columns that hold the same values in another order.
    Permutation,
}

const PINS: [BoundaryPublic; 3] = [
    BoundaryPublic::new(0, BoundaryEnd::First, 0),
    BoundaryPublic::new(1, BoundaryEnd::First, 1),
    BoundaryPublic::new(1, BoundaryEnd::Last, 2),
];

fn periods() -> Vec<Vec<F>> {
    [&[10, 20][..], &[1, 2, 3, 4]]
        .map(|period| period.iter().map(|&x| F::from_u32(x)).collect())
        .to_vec()
}

fn fixed(n: usize) -> Vec<F> {
    (0..n).map(|i| F::from_usize(3 + 2 * i)).collect()
}

impl BaseAir<F> for Small {
    fn width(&self) -> usize {
        match self {
            Self::Periodic | Self::PeriodicPreprocessed(_) => 1,
            _ => 2,
        }
    }

    fn num_public_values(&self) -> usize {
        match self {
            Self::Fibonacci | Self::PinnedFibonacci => 3,
            _ => 0,
        }
    }

    fn public_boundary_io(&self) -> &[BoundaryPublic] {
        match self {
            Self::PinnedFibonacci => &PINS,
            _ => &[],
        }
    }

    fn preprocessed_width(&self) -> usize {
        usize::from(self.preprocessed_trace().is_some())
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        match self {
            Self::Preprocessed(n) | Self::PeriodicPreprocessed(n) => {
                Some(RowMajorMatrix::new(fixed(*n), 1))
            }
            _ => None,
        }
    }

    fn num_periodic_columns(&self) -> usize {
        self.periodic_columns().len()
    }

    fn periodic_columns(&self) -> std::borrow::Cow<'_, [Vec<F>]> {
        match self {
            Self::Periodic | Self::PeriodicPreprocessed(_) => periods().into(),
            _ => Vec::new().into(),
        }
    }

    fn main_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Fibonacci | Self::PinnedFibonacci => vec![0, 1],
            Self::Preprocessed(_) => vec![0],
            _ => Vec::new(),
        }
    }

    fn preprocessed_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Preprocessed(_) => vec![0],
            _ => Vec::new(),
        }
    }
}

impl<AB: AirBuilder<F = F> + InteractionBuilder> Air<AB> for Small {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let row = main.current_slice();
        match self {
            Self::Fibonacci | Self::PinnedFibonacci => {
                let next = main.next_slice();
                let mut step = builder.when_transition();
                step.assert_eq(next[0], row[1]);
                step.assert_eq(next[1], row[0] + row[1]);
                if matches!(self, Self::Fibonacci) {
                    let [a, b, x] = [0, 1, 2].map(|i| builder.public_values()[i]);
                    builder.when_first_row().assert_eq(row[0], a);
                    builder.when_first_row().assert_eq(row[1], b);
                    builder.when_last_row().assert_eq(row[1], x);
                }
            }
            Self::Periodic => {
                let periodic = builder.periodic_values();
                let sum: AB::Expr = periodic[0].into() + periodic[1].into();
                builder.assert_eq(row[0], sum);
            }
            Self::Preprocessed(_) => {
                let next = main.next_slice()[0];
                let window = builder.preprocessed();
                let (fixed, fixed_next) = (window.current_slice()[0], window.next_slice()[0]);
                builder.assert_eq(row[0], fixed);
                builder.assert_eq(row[1], row[0] + row[0]);
                builder.when_transition().assert_eq(next, fixed_next);
            }
            Self::PeriodicPreprocessed(_) => {
                let fixed = builder.preprocessed().current_slice()[0];
                let periodic = builder.periodic_values();
                let product: AB::Expr = periodic[0].into() * periodic[1].into();
                builder.assert_eq(row[0], fixed.into() + product);
            }
            Self::Permutation => builder.push_local_interaction([
                (vec![row[0].into()], Count::bounded(AB::Expr::ONE, 1)),
                (vec![row[1].into()], Count::provided(-AB::Expr::ONE)),
            ]),
        }
    }
}

fn fibonacci(n: usize, a: u32) -> Instance {
    let mut values = vec![F::from_u32(a), F::ONE];
    while values.len() < 2 * n {
        let [a, b] = [values[values.len() - 2], values[values.len() - 1]];
        values.extend([b, a + b]);
    }
    let public = vec![values[0], values[1], values[2 * n - 1]];
    Instance::new(RowMajorMatrix::new(values, 2), public)
}

fn columns(n: usize, width: usize, cell: impl Fn(usize, usize) -> F) -> Instance {
    let values = (0..n * width).map(|i| cell(i / width, i % width)).collect();
    Instance::new(RowMajorMatrix::new(values, width), Vec::new())
}

/// The statement holds; with any one of `breaks` it does not.
fn holds_until_broken(air: Small, good: Instance, breaks: &[fn(&mut Instance)]) {
    let airs = [air];
    everywhere(&airs, std::slice::from_ref(&good), true);
    for change in breaks {
        let mut broken = good.clone();
        change(&mut broken);
        everywhere(&airs, &[broken], false);
    }
}

#[test]
fn fibonacci_by_constraints() {
    holds_until_broken(
        Small::Fibonacci,
        fibonacci(64, 0),
        &[|i| i.public[2] += F::ONE, |i| i.trace.values[40] += F::ONE],
    );
}

#[test]
fn fibonacci_pinned() {
    holds_until_broken(
        Small::PinnedFibonacci,
        fibonacci(32, 5),
        &[|i| i.public[0] += F::ONE, |i| i.public[2] += F::ONE],
    );
}

#[test]
fn fibonacci_several_tables_of_several_heights() {
    let airs = [Small::Fibonacci, Small::PinnedFibonacci, Small::Fibonacci];
    let mut tables = [fibonacci(64, 0), fibonacci(16, 3), fibonacci(128, 7)];
    everywhere(&airs, &tables, true);
    tables.swap(0, 2);
    everywhere(&airs, &tables, true);
    tables[1].public[1] += F::ONE;
    everywhere(&airs, &tables, false);
}

#[test]
fn periodic() {
    let periods = periods();
    let good = columns(64, 1, |i, _| periods[0][i % 2] + periods[1][i % 4]);
    holds_until_broken(Small::Periodic, good, &[|i| i.trace.values[0] += F::ONE]);
}

#[test]
fn preprocessed() {
    let n = 64;
    let fixed = fixed(n);
    let good = columns(n, 2, |i, j| fixed[i] * F::from_usize(1 + j));
    holds_until_broken(
        Small::Preprocessed(n),
        good.clone(),
        &[|i| i.trace.values[6] += F::ONE],
    );
    let airs = [Small::Preprocessed(n), Small::Preprocessed(n)];
    everywhere(&airs, &[good.clone(), good], true);
}

#[test]
fn periodic_and_preprocessed() {
    let n = 32;
    let (fixed, periods) = (fixed(n), periods());
    let good = columns(n, 1, |i, _| {
        fixed[i] + periods[0][i % 2] * periods[1][i % 4]
    });
    holds_until_broken(
        Small::PeriodicPreprocessed(n),
        good,
        &[|i| i.trace.values[31] += F::ONE],
    );
}

#[test]
fn lookup_of_a_permutation() {
    let n = 32;
    let good = columns(n, 2, |i, j| {
        F::from_usize(if j == 0 { i } else { n - 1 - i })
    });
    // without a broken one: p3-multi-stark's prover asserts that lookups balance
    everywhere(&[Small::Permutation], &[good], true);
}

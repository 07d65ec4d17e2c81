//! A tiny machine over our PCS, in the manner of p3-multi-stark's own test: tables of different
//! shapes, tied by lookups, by a bus to a memory, and to a program that is fixed at setup.
//!
//! The machine has an accumulator and four cells that begin at zero:
//!
//! | instruction | effect |
//! |---|---|
//! | `ADD a, k` | acc += mem\[a\] + k |
//! | `PUT a` | mem\[a\] = acc |
//! | `MUL a, k` | acc = acc mem\[a\] + k, by a table of products |

use fieldspar_whir::field::F;
use p3_air::{Air, AirBuilder, BaseAir, WindowAccess};
use p3_bus::{
    BusActivation, BusDirection, BusInteractionBuilder, BusName, RamAccess, RamAir, RamBoundary,
    RamStatement, RamTrace,
};
use p3_field::PrimeCharacteristicRing;
use p3_lookup::{Count, InteractionBuilder};
use p3_matrix::dense::RowMajorMatrix;

use crate::statement::Instance;

provers!(Chip);

const ADD: u32 = 0;
const PUT: u32 = 1;
const MUL: u32 = 2;
/// Opcode, cell, immediate.
const PROGRAM: [[u32; 3]; 8] = [
    [ADD, 0, 3], // 3
    [PUT, 1, 0],
    [MUL, 1, 2], // 11
    [PUT, 0, 0],
    [ADD, 1, 0], // 14
    [MUL, 0, 1], // 155
    [PUT, 1, 0],
    [MUL, 1, 4], // 24,029
];
const RESULT: u32 = 24_029;
const ADDRESS_BITS: usize = 2;
const CLOCK_BITS: usize = 3;
const CPU: usize = 1 + CLOCK_BITS + 3 + ADDRESS_BITS + 4;

const FETCH: &str = "fetch";
const PRODUCT: &str = "product";
const ACCESS: &str = "access";

enum Chip {
    Cpu,
    Program,
    Products,
    Memory(Box<RamAir>),
}

fn memory() -> RamStatement {
    RamStatement {
        access_bus: ACCESS.into(),
        access_count: PROGRAM.len(),
        address_bits: ADDRESS_BITS,
        timestamp_bits: CLOCK_BITS,
        value_width: 1,
        boundary: RamBoundary::SingleProof,
    }
}

impl BaseAir<F> for Chip {
    fn width(&self) -> usize {
        match self {
            Self::Cpu => CPU,
            Self::Program => 1,
            Self::Products => 5,
            Self::Memory(ram) => BaseAir::<F>::width(ram.as_ref()),
        }
    }

    fn num_public_values(&self) -> usize {
        match self {
            Self::Cpu => 2,
            _ => 0,
        }
    }

    fn preprocessed_width(&self) -> usize {
        match self {
            Self::Program => 4,
            _ => 0,
        }
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        let Self::Program = self else { return None };
        let rows = PROGRAM.iter().zip(0..);
        let values = rows.flat_map(|(&[op, a, k], pc)| [pc, op, a, k].map(F::from_u32));
        Some(RowMajorMatrix::new(values.collect(), 4))
    }
}

impl<AB> Air<AB> for Chip
where
    AB: InteractionBuilder<F = F> + BusInteractionBuilder,
{
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let row = main.current_slice();
        match self {
            Self::Cpu => cpu(builder),
            Self::Program => {
                let fixed = builder.preprocessed().current_slice().to_vec();
                let fixed: Vec<AB::Expr> = fixed.into_iter().map(Into::into).collect();
                builder.push_interaction(FETCH, fixed, Count::provided(-row[0].into()));
            }
            Self::Products => {
                builder.assert_eq(row[3], row[0] * row[1] + row[2]);
                let tuple = [row[0], row[1], row[2], row[3]];
                builder.push_interaction(PRODUCT, tuple, Count::provided(-row[4].into()));
            }
            Self::Memory(ram) => ram.as_ref().eval(builder),
        }
    }
}

fn number<AB: AirBuilder>(bits: &[AB::Var]) -> AB::Expr {
    let bits = bits.iter().rev();
    bits.fold(AB::Expr::ZERO, |acc, &bit| acc.double() + bit.into())
}

fn cpu<AB: InteractionBuilder<F = F> + BusInteractionBuilder>(builder: &mut AB) {
    let main = builder.main();
    let (row, next) = (main.current_slice(), main.next_slice());
    let (pc, rest) = (row[0], &row[1..]);
    let (clock, rest) = rest.split_at(CLOCK_BITS);
    let (flags, rest) = rest.split_at(3);
    let (cell, rest) = rest.split_at(ADDRESS_BITS);
    let (add, put, mul) = (flags[0], flags[1], flags[2]);
    let (k, acc, value, after) = (rest[0], rest[1], rest[2], rest[3]);

    for &bit in clock.iter().chain(flags).chain(cell) {
        builder.assert_bool(bit);
    }
    builder.assert_one(add + put + mul);
    // one step a tick
    builder.assert_eq(pc, number::<AB>(clock));
    builder.assert_zero(add * (after - acc - value - k));
    builder.assert_zero(put * (after - acc));
    builder.assert_zero(put * (value - acc));

    let [entry, exit] = [0, 1].map(|i| builder.public_values()[i]);
    builder.when_first_row().assert_zero(pc);
    builder.when_first_row().assert_eq(acc, entry);
    builder.when_last_row().assert_eq(after, exit);
    let mut step = builder.when_transition();
    step.assert_eq(next[0], pc + AB::Expr::ONE);
    step.assert_eq(next[CPU - 3], after);

    let op = put.into() + mul.into().double();
    let fetched = [pc.into(), op, number::<AB>(cell), k.into()];
    builder.push_interaction(FETCH, fetched, Count::bounded(AB::Expr::ONE, 1));
    let product = [acc, value, k, after];
    builder.push_interaction(PRODUCT, product, Count::bounded(mul.into(), 1));
    let access = [put].into_iter().chain(cell.iter().copied());
    let access = access.chain(clock.iter().copied()).chain([value]);
    builder.push_bus_interaction(
        BusName::new(ACCESS),
        BusDirection::Push,
        access.map(Into::into),
        BusActivation::Always,
    );
}

/// Runs the program and writes the four tables; `lie` may change the state before each step.
fn run(lie: impl Fn(usize, &mut F, &mut [F; 4])) -> Vec<Instance> {
    let bits = |x: usize, count: usize| (0..count).map(move |i| F::from_bool((x >> i) & 1 == 1));
    let (mut acc, mut cells) = (F::ZERO, [F::ZERO; 4]);
    let (mut cpu, mut products, mut accesses) = (Vec::new(), Vec::new(), Vec::new());
    for (pc, &[op, a, k]) in PROGRAM.iter().enumerate() {
        lie(pc, &mut acc, &mut cells);
        let k = F::from_u32(k);
        let cell = &mut cells[a as usize];
        if op == PUT {
            *cell = acc;
        }
        let value = *cell;
        let after = match op {
            ADD => acc + value + k,
            PUT => acc,
            _ => acc * value + k,
        };
        if op == MUL {
            products.extend([acc, value, k, after, F::ONE]);
        }
        accesses.push(match op {
            PUT => RamAccess::write(u64::from(a), pc as u64, [value]),
            _ => RamAccess::read(u64::from(a), pc as u64, [value]),
        });
        cpu.push(F::from_usize(pc));
        cpu.extend(bits(pc, CLOCK_BITS));
        cpu.extend([ADD, PUT, MUL].map(|x| F::from_bool(x == op)));
        cpu.extend(bits(a as usize, ADDRESS_BITS));
        cpu.extend([k, acc, value, after]);
        acc = after;
    }
    products.resize(4 * 5, F::ZERO);
    let ram = RamTrace::build(&memory(), &accesses).unwrap();
    let width = ram.width();
    vec![
        Instance::new(RowMajorMatrix::new(cpu, CPU), vec![F::ZERO, acc]),
        Instance::new(RowMajorMatrix::new(vec![F::ONE; PROGRAM.len()], 1), vec![]),
        Instance::new(RowMajorMatrix::new(products, 5), vec![]),
        Instance::new(RowMajorMatrix::new(ram.into_values(), width), vec![]),
    ]
}

fn chips() -> [Chip; 4] {
    let ram = RamAir::new(memory()).unwrap();
    let memory = Chip::Memory(Box::new(ram));
    [Chip::Cpu, Chip::Program, Chip::Products, memory]
}

#[test]
fn tiny_machine() {
    let tables = run(|_, _, _| {});
    assert_eq!(tables[0].public[1], F::from_u32(RESULT));
    everywhere(&chips(), &tables, true);
}

#[test]
fn tiny_machine_that_lies() {
    // another result, then a step from another accumulator; a lookup that does not balance is a
    // panic of p3-multi-stark's prover, whatever the PCS
    let mut tables = run(|_, _, _| {});
    tables[0].public[1] += F::ONE;
    everywhere(&chips(), &tables, false);
    let jump = run(|step, acc, _| {
        if step == 4 {
            *acc += F::ONE;
        }
    });
    everywhere(&chips(), &jump, false);
}

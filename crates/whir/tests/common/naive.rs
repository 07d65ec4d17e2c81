//! An engine written from the definitions, with Plonky3's scalar fields and nothing else: what the
//! driver must work with, and a device that can be told to fail at any call.

use std::sync::atomic::{AtomicUsize, Ordering};

use fieldspar_whir::driver::Error;
use fieldspar_whir::engine::{CodeShape, Engine, GrindTask, HiKind, HiWeight, Opened, OpenedRows};
use fieldspar_whir::field::{Commitment, Digest, Extension, F, LeafHash, NodeHash};
use fieldspar_whir::profile::Profile;
use p3_baby_bear::default_babybear_poseidon2_16;
use p3_field::{PrimeCharacteristicRing, PrimeField32, TwoAdicField};
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;
use p3_symmetric::{CryptographicHasher, MerkleCap, Permutation, PseudoCompressionFunction};

#[derive(Debug, Default)]
pub struct Naive {
    profile: Profile,
    calls: AtomicUsize,
    fail_at: Option<usize>,
}

impl Naive {
    /// Fails at the `k`-th call and at every later one.
    pub fn failing_at(k: usize) -> Self {
        Self {
            fail_at: Some(k),
            ..Self::default()
        }
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn call(&self) -> Result<(), Error> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fail_at {
            Some(k) if call >= k => Err(Error::Device(fieldspar_device::Error::Mismatch {
                op: "injected",
                index: call,
            })),
            _ => Ok(()),
        }
    }
}

#[derive(Clone)]
pub struct Code<EF> {
    rows: OpenedRows<EF>,
    layers: Vec<Vec<Digest>>,
}

#[derive(Clone)]
pub struct Tables<EF> {
    order: VariableOrder,
    f: Vec<EF>,
    w: Vec<EF>,
}

fn tree(rows: impl Iterator<Item = Vec<F>>, cap_height: usize) -> Vec<Vec<Digest>> {
    let hash = LeafHash::new(default_babybear_poseidon2_16());
    let node = NodeHash::new(default_babybear_poseidon2_16());
    let mut layers: Vec<Vec<Digest>> = vec![rows.map(|r| hash.hash_iter(r)).collect()];
    while layers.last().unwrap().len() > 1 << cap_height {
        let next = layers.last().unwrap().chunks(2);
        layers.push(next.map(|p| node.compress([p[0], p[1]])).collect());
    }
    layers
}

fn eq_at<EF: Extension>(point: &[EF], y: usize) -> EF {
    let m = point.len();
    (0..m)
        .map(|i| match (y >> (m - 1 - i)) & 1 {
            1 => point[i],
            _ => EF::ONE - point[i],
        })
        .product()
}

fn weight_at<EF: Extension>(weight: &HiWeight<EF>, hi: usize) -> EF {
    let value = |bits: &[bool]| bits.iter().fold(0, |a, &b| a * 2 + usize::from(b));
    let (m, t) = (weight.point.len(), weight.trailing.len());
    let y = (hi >> t) & ((1 << m) - 1);
    if hi & ((1 << t) - 1) != value(&weight.trailing) || hi >> (t + m) != value(&weight.leading) {
        return EF::ZERO;
    }
    match weight.kind {
        HiKind::Eq => eq_at(&weight.point, y),
        HiKind::Shift if y == 0 => EF::ZERO,
        HiKind::Shift => eq_at(&weight.point, y - 1),
        HiKind::Delta(at) => EF::from_bool(at == y),
    }
}

fn at(order: VariableOrder, hi_len: usize, lo_len: usize, hi: usize, lo: usize) -> usize {
    match order {
        VariableOrder::Suffix => hi * lo_len + lo,
        VariableOrder::Prefix => lo * hi_len + hi,
    }
}

/// Columns of the message matrix, zero-extended and evaluated at every power of the generator.
fn encode<V>(f: &[V], shape: CodeShape) -> Vec<Vec<V>>
where
    V: PrimeCharacteristicRing + Copy + core::ops::Mul<F, Output = V>,
{
    let width = 1 << shape.fold;
    let rows = f.len() / width;
    let height = rows << shape.log_inv_rate;
    let g = F::two_adic_generator(height.ilog2() as usize);
    (0..height)
        .map(|i| {
            let x = g.exp_u64(i as u64);
            (0..width)
                .map(|j| {
                    (0..rows).rev().fold(V::ZERO, |acc, r| {
                        acc * x + f[at(shape.order, rows, width, r, j)]
                    })
                })
                .collect()
        })
        .collect()
}

impl<EF: Extension> Engine<EF> for Naive {
    type Polynomial = Vec<F>;
    type Codeword = Code<EF>;
    type Sumcheck = Tables<EF>;

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn load(&self, evaluations: Vec<F>) -> Result<Vec<F>, Error> {
        self.call()?;
        Ok(evaluations)
    }

    fn commit(&self, f: &Vec<F>, shape: CodeShape) -> Result<(Commitment, Code<EF>), Error> {
        self.call()?;
        let rows = encode(f, shape);
        let layers = tree(rows.iter().cloned(), shape.cap_height);
        let rows = OpenedRows::Base(rows);
        let cap = MerkleCap::new(layers.last().unwrap().clone());
        Ok((cap, Code { rows, layers }))
    }

    fn partial_evaluations(
        &self,
        f: &Vec<F>,
        order: VariableOrder,
        fold: usize,
        weight: &HiWeight<EF>,
    ) -> Result<Vec<EF>, Error> {
        self.call()?;
        let (lo_len, hi_len) = (1 << fold, f.len() >> fold);
        Ok((0..lo_len)
            .map(|lo| {
                (0..hi_len)
                    .map(|hi| weight_at(weight, hi) * f[at(order, hi_len, lo_len, hi, lo)])
                    .sum()
            })
            .collect())
    }

    fn begin(
        &self,
        f: &Vec<F>,
        order: VariableOrder,
        fold: usize,
        lo_weights: &[EF],
        weights: &[(EF, HiWeight<EF>)],
    ) -> Result<Tables<EF>, Error> {
        self.call()?;
        let (lo_len, hi_len) = (1 << fold, f.len() >> fold);
        let folded = (0..hi_len)
            .map(|hi| {
                (0..lo_len)
                    .map(|lo| lo_weights[lo] * f[at(order, hi_len, lo_len, hi, lo)])
                    .sum()
            })
            .collect();
        let w = (0..hi_len)
            .map(|hi| weights.iter().map(|(c, w)| *c * weight_at(w, hi)).sum())
            .collect();
        Ok(Tables {
            order,
            f: folded,
            w,
        })
    }

    fn commit_folded(
        &self,
        t: &Tables<EF>,
        shape: CodeShape,
    ) -> Result<(Commitment, Code<EF>), Error> {
        self.call()?;
        let rows = encode(&t.f, shape);
        let flat = rows.iter().map(|row| {
            row.iter()
                .flat_map(|x| x.as_basis_coefficients_slice().to_vec())
                .collect()
        });
        let layers = tree(flat, shape.cap_height);
        let cap = MerkleCap::new(layers.last().unwrap().clone());
        let rows = OpenedRows::Extension(rows);
        Ok((cap, Code { rows, layers }))
    }

    fn evaluate(&self, t: &Tables<EF>, point: &Point<EF>) -> Result<EF, Error> {
        self.call()?;
        Ok(t.f
            .iter()
            .enumerate()
            .map(|(x, &v)| v * eq_at(point.as_slice(), x))
            .sum())
    }

    fn accumulate(
        &self,
        t: &mut Tables<EF>,
        eq: &[(EF, Point<EF>)],
        select: &[(EF, F)],
    ) -> Result<(), Error> {
        self.call()?;
        for (x, w) in t.w.iter_mut().enumerate() {
            *w += eq
                .iter()
                .map(|(c, p)| *c * eq_at(p.as_slice(), x))
                .sum::<EF>();
            *w += select
                .iter()
                .map(|&(c, z)| c * z.exp_u64(x as u64))
                .sum::<EF>();
        }
        Ok(())
    }

    fn message(&self, t: &mut Tables<EF>) -> Result<[EF; 2], Error> {
        self.call()?;
        let half = t.f.len() / 2;
        let mut sums = [EF::ZERO; 2];
        for i in 0..half {
            let (a, b) = (at(t.order, half, 2, i, 0), at(t.order, half, 2, i, 1));
            sums[0] += t.f[a] * t.w[a];
            sums[1] += (t.f[b] - t.f[a]) * (t.w[b] - t.w[a]);
        }
        Ok(sums)
    }

    fn fold(&self, t: &mut Tables<EF>, r: EF, _: bool) -> Result<(), Error> {
        self.call()?;
        let order = t.order;
        for v in [&mut t.f, &mut t.w] {
            let half = v.len() / 2;
            *v = (0..half)
                .map(|i| {
                    let (a, b) = (v[at(order, half, 2, i, 0)], v[at(order, half, 2, i, 1)]);
                    a + r * (b - a)
                })
                .collect();
        }
        Ok(())
    }

    fn values(&self, t: &Tables<EF>) -> Result<Vec<EF>, Error> {
        self.call()?;
        Ok(t.f.clone())
    }

    fn open(&self, code: &Code<EF>, indices: &[usize]) -> Result<Opened<EF>, Error> {
        self.call()?;
        let rows = match &code.rows {
            OpenedRows::Base(rows) => {
                OpenedRows::Base(indices.iter().map(|&i| rows[i].clone()).collect())
            }
            OpenedRows::Extension(rows) => {
                OpenedRows::Extension(indices.iter().map(|&i| rows[i].clone()).collect())
            }
        };
        let mut known: std::collections::BTreeSet<usize> = indices.iter().copied().collect();
        let mut siblings = Vec::new();
        for layer in &code.layers[..code.layers.len() - 1] {
            for &i in &known {
                if !known.contains(&(i ^ 1)) {
                    siblings.push(layer[i ^ 1]);
                }
            }
            known = known.iter().map(|i| i / 2).collect();
        }
        Ok(Opened { rows, siblings })
    }

    fn grind(&self, task: &GrindTask) -> Result<F, Error> {
        self.call()?;
        let permutation = default_babybear_poseidon2_16();
        Ok((0..F::ORDER_U32)
            .map(F::from_u32)
            .find(|&witness| {
                let mut state = task.state;
                state[task.slot] = witness;
                permutation.permute_mut(&mut state);
                state[7].as_canonical_u32() & ((1 << task.bits) - 1) == 0
            })
            .unwrap())
    }
}

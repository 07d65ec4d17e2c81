//! The protocol: one driver for every engine.
//!
//! The driver owns the transcript, the schedule and the proof, all of p3-whir's own types
//! (`=0.8.0`); an [`Engine`] owns the data. Proofs are those of p3-whir run with a challenger that
//! grinds smallest-first, byte for byte, and its unmodified verifier accepts them.
//!
//! Source: ePrint 2024/1586 (WHIR), p3-whir 0.8.0 `pcs/prover`.
#![forbid(unsafe_code)]

mod error;

use p3_field::{PrimeCharacteristicRing, TwoAdicField};
use p3_merkle_tree::PrunedMerklePaths;
use p3_multilinear_util::point::Point;
use p3_multilinear_util::poly::Poly;
use p3_sumcheck::layout::{
    LayoutStrategy, TablePlacement, Verifier as Layout, plan_stacked_layout,
};
use p3_sumcheck::strategy::VariableOrder;
use p3_sumcheck::transcript::{ProverTranscript, SumcheckShape};
use p3_sumcheck::{OpeningBatch, OpeningEvals, OpeningProtocol, SumcheckData, strategy::Basis};
use p3_symmetric::MerkleCap;
use p3_whir::parameters::{RoundConfig, WhirConfig};
use p3_whir::transcript::WhirProverTranscript;
use p3_whir::{PcsProof, QueryOpenings, SharedProofOpening, WhirProof, WhirRoundProof, WhirShape};

pub use error::Error;

use crate::challenger::{Fuse, Recorder, Transcript};
use crate::claims::{Claims, FirstFold, View, eq_table, split};
use crate::engine::{CodeShape, Engine, Later, Opened, OpenedRows};
use crate::field::{Challenger, Extension, F, Mmcs};

/// A proof of p3-whir over this crate's field and hashes.
pub type Proof<EF> = PcsProof<F, EF, Mmcs>;
type Openings<EF> = QueryOpenings<F, EF, PrunedMerklePaths<F, 8>>;

/// One opening to be proved.
pub(crate) struct Opening<'a, EF: Extension, E: Engine<EF>> {
    pub(crate) engine: &'a E,
    pub(crate) config: &'a WhirConfig<EF, F, Challenger>,
    pub(crate) strategy: LayoutStrategy,
    pub(crate) cap_height: usize,
    pub(crate) protocol: &'a OpeningProtocol,
}

impl<EF: Extension, E: Engine<EF>> Opening<'_, EF, E> {
    const fn order(&self) -> VariableOrder {
        self.strategy.variable_order
    }

    fn fold(&self, round: usize) -> usize {
        self.config.folding_schedule()[round]
    }

    /// How the first commitment is made.
    pub(crate) fn first_code(&self) -> CodeShape {
        CodeShape {
            order: self.order(),
            fold: self.fold(0),
            log_inv_rate: self.config.params().starting_log_inv_rate,
            cap_height: self.cap_height,
        }
    }

    /// Proves the protocol's openings of a committed polynomial, at `points` or, without them, at
    /// points drawn from the transcript. Polynomial and codewords are let go as soon as the
    /// protocol is through with them.
    pub(crate) fn prove(
        &self,
        polynomial: E::Polynomial,
        codeword: E::Codeword,
        points: Option<&[Point<EF>]>,
        challenger: &mut Challenger,
    ) -> Result<Proof<EF>, Error> {
        let ood_samples = self.config.commitment_ood_samples();
        let claims = self
            .protocol
            .checked_num_claims()
            .and_then(|claims| claims.checked_add(ood_samples))
            .ok_or(p3_whir::WhirConfigError::InitialClaimCountOverflow)?;
        self.config.validate_initial_claims(claims)?;

        let mut opened = self.open_claims(&polynomial, points, challenger)?;
        let initial_ood_answers = core::mem::take(&mut opened.ood_answers);
        let evals = core::mem::take(&mut opened.evals);

        let fuse = Fuse::default();
        let mut transcript = Transcript::new(challenger, self.engine, &fuse);
        let whir = self.run(polynomial, codeword, opened, &mut transcript, &fuse);
        drop(transcript);
        fuse.finish()?;
        Ok(PcsProof {
            whir: WhirProof {
                initial_ood_answers,
                ..whir
            },
            evals,
        })
    }

    /// Binds the out-of-domain claims and the protocol's own, with their values from the device.
    fn open_claims(
        &self,
        polynomial: &E::Polynomial,
        points: Option<&[Point<EF>]>,
        challenger: &mut Challenger,
    ) -> Result<OpenClaims<EF>, Error> {
        let shapes = self.protocol.table_shapes();
        let (num_variables, mut placements) = plan_stacked_layout(&shapes);
        if self.strategy.reverse_selectors {
            placements
                .iter_mut()
                .for_each(TablePlacement::reverse_selectors);
        }
        if num_variables != self.config.num_variables() {
            return Err(Error::Statement {
                what: "variables of the opened tables",
                expected: self.config.num_variables(),
                found: num_variables,
            });
        }
        let num_openings = self.protocol.num_openings();
        if let Some(points) = points
            && points.len() != num_openings
        {
            return Err(Error::Statement {
                what: "opening points",
                expected: num_openings,
                found: points.len(),
            });
        }
        let mut layout = Layout::<F, EF>::new(&shapes, self.strategy);
        let (order, fold) = (self.order(), self.fold(0));
        let mut claims = Claims::new(fold);
        let partials = |weights: &[_]| {
            self.engine.profile().time("evaluate", || {
                self.engine
                    .partial_evaluations_of(polynomial, order, fold, weights)
            })
        };

        let whole = p3_sumcheck::layout::Selector::new(0, 0);
        let mut virtual_claims = Vec::new();
        let mut ood_answers = Vec::new();
        for _ in 0..self.config.commitment_ood_samples() {
            let mut recorder = Recorder::new(challenger);
            Layout::<F, EF>::new(&shapes, self.strategy).add_virtual_eval(EF::ZERO, &mut recorder);
            let z = recorder.first().ok_or(Error::NoPoint)?;
            let point = Point::expand_from_univariate(z, num_variables);
            let terms = split(order, fold, &whole, point.as_slice(), View::Current);
            let (claim, values) = claims.add(vec![terms], partials)?;
            for value in values {
                layout.add_virtual_eval(value, challenger);
                virtual_claims.push(claim);
                ood_answers.push(value);
            }
        }

        let mut evals = Vec::with_capacity(num_openings);
        let mut table_claims: Vec<Vec<usize>> = vec![Vec::new(); shapes.len()];
        for (k, (table, batch)) in self.protocol.iter_openings().enumerate() {
            let arity = layout.num_variables_table(table);
            let point = match points {
                Some(points) => points[k].clone(),
                None => {
                    let mut recorder = Recorder::new(challenger);
                    let zeros = OpeningBatch::new(
                        EF::zero_vec(batch.current().len()),
                        EF::zero_vec(batch.next().len()),
                    );
                    Layout::<F, EF>::new(&shapes, self.strategy)
                        .add_claim(table, batch, &zeros, &mut recorder)
                        .map_err(|_| Error::NoPoint)?;
                    Point::expand_from_univariate(recorder.first().ok_or(Error::NoPoint)?, arity)
                }
            };
            if point.num_variables() != arity {
                return Err(Error::Statement {
                    what: "coordinates of an opening point",
                    expected: arity,
                    found: point.num_variables(),
                });
            }
            if arity < fold {
                return Err(Error::Statement {
                    what: "variables of an opened table",
                    expected: fold,
                    found: arity,
                });
            }
            let Some(placement) = placements.iter().find(|p| p.idx() == table) else {
                return Err(Error::Statement {
                    what: "opened table",
                    expected: shapes.len(),
                    found: table,
                });
            };
            let terms = |columns: &[usize], view| {
                let selectors = placement.selectors();
                let columns = columns.iter().map(|&column| &selectors[column]);
                columns
                    .map(|selector| split(order, fold, selector, point.as_slice(), view))
                    .collect::<Vec<_>>()
            };
            let mut all = terms(batch.current(), View::Current);
            all.extend(terms(batch.next(), View::Next));
            let (first, mut current) = claims.add(all, partials)?;
            table_claims[table].extend(first..first + current.len());
            let next = current.split_off(batch.current().len());
            let values: OpeningEvals<EF> = OpeningBatch::new(current, next);
            let bound = match points {
                Some(_) => layout.add_claim_at(table, batch, &point, &values, challenger),
                None => layout.add_claim(table, batch, &values, challenger),
            };
            bound.map_err(|_| Error::mismatch("open", k))?;
            evals.push(values);
        }

        // The batching powers run over the tables as placed, largest first, then over the
        // out-of-domain claims.
        let numbering = placements
            .iter()
            .flat_map(|p| table_claims[p.idx()].iter().copied())
            .chain(virtual_claims)
            .collect();
        Ok(OpenClaims {
            layout,
            claims,
            numbering,
            ood_answers,
            evals,
        })
    }

    /// The protocol after the claims. After a device error it is played on with substitutes:
    /// the caller looks at the fuse before it uses the result.
    fn run(
        &self,
        polynomial: E::Polynomial,
        codeword: E::Codeword,
        opened: OpenClaims<EF>,
        transcript: &mut Transcript<'_, EF, E>,
        fuse: &Fuse,
    ) -> WhirProof<F, EF, Mmcs> {
        let (engine, profile) = (self.engine, self.engine.profile());
        let shape = WhirShape::new(self.config, self.protocol.num_openings());
        let mut play = WhirProverTranscript::<_, F, EF>::new(transcript, shape);

        let (first, initial_sumcheck, randomness) =
            play.delegate_initial_fold(|ch| self.first_fold(opened, ch));
        let lo_weights = eq_table(self.in_index_order(&randomness).as_slice());
        let begin = || {
            let weights = first.weights();
            engine.begin(
                &polynomial,
                self.order(),
                self.fold(0),
                &lo_weights,
                &weights,
            )
        };
        let mut state = fuse.run(|| profile.time("fold", begin).map(Some), || None);
        drop(polynomial);

        let mut codeword = Some(codeword);
        let mut opened = Vec::with_capacity(self.config.n_rounds());
        let mut later = None;
        let mut rounds = Vec::with_capacity(self.config.n_rounds());
        for (i, round) in self.config.round_parameters().iter().enumerate() {
            let code = CodeShape {
                order: self.order(),
                fold: self.fold(i + 1),
                log_inv_rate: round.log_inv_rate,
                cap_height: self.cap_height,
            };
            let (commitment, next) = fuse.run(
                || {
                    // what was opened last is taken up while the device hashes
                    let mut meanwhile = || opened.extend(later.take().map(|l| collect(l, fuse)));
                    let (commitment, next) =
                        engine.commit_folded_beside(held(&state)?, code, &mut meanwhile)?;
                    Ok((commitment, Some(next)))
                },
                || (MerkleCap::new(vec![[F::ZERO; 8]]), None),
            );
            play.commitment(commitment.clone());

            let mut fresh = FreshClaims::new(round);
            for _ in 0..round.ood_samples {
                let point = Point::expand_from_univariate(play.ood_point(), round.num_variables);
                let evaluate = || engine.evaluate(held(&state)?, &point);
                let answer = fuse.run(|| profile.time("evaluate", evaluate), || EF::ZERO);
                play.ood_answer(answer);
                fresh.ood(point, answer);
            }
            let pow_witness = play.query_pow(i);
            let indices = play.query_indices(i);
            fresh.queries(&indices);
            let (eq, select) = fresh.weigh(play.round_batching());
            fuse.run(
                || {
                    profile.time("weights", || {
                        engine.accumulate(held_mut(&mut state)?, &eq, &select)
                    })
                },
                || (),
            );
            // after the weights: the next message waits for them, and nothing for what is opened
            later = Some(self.open(codeword.as_ref(), &indices, fuse));

            let (sumcheck, _) = play.delegate_round_fold(|ch| {
                self.fold_rounds(
                    &mut state,
                    self.fold(i + 1),
                    round.folding_pow_bits,
                    ch,
                    fuse,
                )
            });
            codeword = next;
            rounds.push(WhirRoundProof {
                commitment: Some(commitment),
                ood_answers: fresh.answers,
                pow_witness,
                openings: none_opened(),
                sumcheck,
            });
        }

        let last = self.config.n_rounds();
        let final_variables = self.config.final_round_config().num_variables;
        let final_poly = Poly::new(fuse.run(
            || engine.values(held(&state)?),
            || EF::zero_vec(1 << final_variables),
        ));
        play.final_poly(final_poly.as_slice());
        let final_pow_witness = play.query_pow(last);
        let indices = play.query_indices(last);
        let last = self.open(codeword.as_ref(), &indices, fuse);
        let final_sumcheck = play.delegate_final_fold(|ch| {
            let rounds = self.config.final_sumcheck_rounds();
            let bits = self.config.final_folding_pow_bits();
            self.fold_rounds(&mut state, rounds, bits, ch, fuse).0
        });
        play.finish();
        let final_openings = profile.time("open", || {
            opened.extend(later.map(|later| collect(later, fuse)));
            collect(last, fuse)
        });
        for (round, opened) in rounds.iter_mut().zip(opened) {
            round.openings = opened;
        }
        WhirProof {
            initial_ood_answers: Vec::new(),
            initial_sumcheck,
            rounds,
            final_poly: Some(final_poly),
            final_pow_witness,
            final_openings,
            final_sumcheck,
        }
    }

    fn open(&self, codeword: Option<&E::Codeword>, indices: &[usize], fuse: &Fuse) -> Later<EF> {
        let open = || self.engine.open_later(held_ref(codeword)?, indices);
        fuse.run(
            || self.engine.profile().time("open", open),
            || Box::new(|| Ok(nothing())),
        )
    }

    /// Challenges in drawing order, put into the order of the index bits they bind.
    fn in_index_order(&self, randomness: &Point<EF>) -> Point<EF> {
        match self.order() {
            VariableOrder::Prefix => randomness.clone(),
            VariableOrder::Suffix => randomness.reversed(),
        }
    }

    /// Batches the claims and plays the first fold's sumcheck, over tables of 2^fold entries.
    fn first_fold(
        &self,
        opened: OpenClaims<EF>,
        ch: &mut Transcript<'_, EF, E>,
    ) -> (FirstFold<EF>, SumcheckData<F, EF>, Point<EF>) {
        let alpha: EF = opened.layout.batching_challenge(ch);
        let mut coefficients = EF::zero_vec(opened.numbering.len());
        for (&claim, power) in opened.numbering.iter().zip(alpha.powers()) {
            coefficients[claim] = power;
        }
        let mut first = opened.claims.batch(self.order(), &coefficients);
        let pow_bits = self.config.starting_folding_pow_bits();
        let (data, randomness) = play_rounds(self.fold(0), pow_bits, ch, |step| match step {
            Step::Message => first.message(),
            Step::Bind { r, .. } => {
                first.bind(r);
                [EF::ZERO; 2]
            }
        });
        (first, data, randomness)
    }

    fn fold_rounds(
        &self,
        state: &mut Option<E::Sumcheck>,
        rounds: usize,
        pow_bits: usize,
        ch: &mut Transcript<'_, EF, E>,
        fuse: &Fuse,
    ) -> (SumcheckData<F, EF>, Point<EF>) {
        let (engine, profile) = (self.engine, self.engine.profile());
        play_rounds(rounds, pow_bits, ch, |step| {
            let run = || match step {
                Step::Message => engine.message(held_mut(state)?),
                Step::Bind { r, more } => {
                    engine.fold(held_mut(state)?, r, more)?;
                    Ok([EF::ZERO; 2])
                }
            };
            fuse.run(|| profile.time("sumcheck", run), || [EF::ZERO; 2])
        })
    }
}

/// What a sumcheck round asks of the tables.
#[derive(Clone, Copy)]
enum Step<EF> {
    /// The next message.
    Message,
    /// Bind the variable; `more` rounds follow.
    Bind { r: EF, more: bool },
}

/// Plays a batch of sumcheck rounds; `step` answers a message with its two values.
fn play_rounds<EF: Extension, E: Engine<EF>>(
    rounds: usize,
    pow_bits: usize,
    ch: &mut Transcript<'_, EF, E>,
    mut step: impl FnMut(Step<EF>) -> [EF; 2],
) -> (SumcheckData<F, EF>, Point<EF>) {
    let mut data = SumcheckData::default();
    let mut randomness = Vec::with_capacity(rounds);
    let shape = SumcheckShape::new(rounds, pow_bits, Basis::Evaluation);
    let mut play = ProverTranscript::<_, F, EF>::new(ch, shape);
    for i in 0..rounds {
        let [h0, h_inf] = step(Step::Message);
        let (r, witness) = play.round(h0, h_inf);
        data.polynomial_evaluations.push([h0, h_inf]);
        data.pow_witnesses.extend(witness);
        step(Step::Bind {
            r,
            more: i + 1 < rounds,
        });
        randomness.push(r);
    }
    play.finish();
    (data, Point::new(randomness))
}

/// Data that is missing only after an earlier error, which the fuse reports.
const fn held<T>(data: &Option<T>) -> Result<&T, Error> {
    held_ref(data.as_ref())
}

const fn held_ref<T>(data: Option<&T>) -> Result<&T, Error> {
    match data {
        Some(data) => Ok(data),
        None => Err(Error::mismatch("hold", 0)),
    }
}

fn held_mut<T>(data: &mut Option<T>) -> Result<&mut T, Error> {
    data.as_mut().ok_or(Error::mismatch("hold", 0))
}

/// The bound claims, before the batching challenge.
struct OpenClaims<EF: Extension> {
    layout: Layout<F, EF>,
    claims: Claims<EF>,
    /// Claim numbers in the order of the batching powers.
    numbering: Vec<usize>,
    ood_answers: Vec<EF>,
    evals: Vec<OpeningEvals<EF>>,
}

/// A weight `c * eq(point, x)` to add to the sumcheck's weights.
type EqWeight<EF> = (EF, Point<EF>);

/// The claims that one round adds: out-of-domain samples and query answers.
struct FreshClaims<EF> {
    generator: F,
    ood: Vec<Point<EF>>,
    answers: Vec<EF>,
    queries: Vec<F>,
}

impl<EF: Extension> FreshClaims<EF> {
    fn new(round: &RoundConfig) -> Self {
        Self {
            generator: F::two_adic_generator(round.log_folded_domain_size),
            ood: Vec::new(),
            answers: Vec::new(),
            queries: Vec::new(),
        }
    }

    fn ood(&mut self, point: Point<EF>, answer: EF) {
        self.ood.push(point);
        self.answers.push(answer);
    }

    fn queries(&mut self, indices: &[usize]) {
        self.queries = indices
            .iter()
            .map(|&index| self.generator.exp_u64(index as u64))
            .collect();
    }

    /// The carried claim keeps coefficient 1; fresh claims take gamma, gamma^2, ...
    fn weigh(&self, gamma: EF) -> (Vec<EqWeight<EF>>, Vec<(EF, F)>) {
        let mut powers = gamma.shifted_powers(gamma);
        let ood = self.ood.iter().cloned();
        let eq = ood
            .zip(powers.by_ref())
            .map(|(point, c)| (c, point))
            .collect();
        let select = powers.zip(self.queries.iter().copied()).collect();
        (eq, select)
    }
}

const fn nothing<EF>() -> Opened<EF> {
    Opened {
        rows: OpenedRows::Base(Vec::new()),
        siblings: Vec::new(),
    }
}

fn none_opened<EF: Extension>() -> Openings<EF> {
    openings(nothing())
}

/// What was opened, once it is there.
fn collect<EF: Extension>(later: Later<EF>, fuse: &Fuse) -> Openings<EF> {
    openings(fuse.run(later, nothing))
}

fn openings<EF: Extension>(opened: Opened<EF>) -> Openings<EF> {
    let proof = PrunedMerklePaths {
        sibling_hashes: opened.siblings,
    };
    match opened.rows {
        OpenedRows::Base(rows) => QueryOpenings::Base(SharedProofOpening { rows, proof }),
        OpenedRows::Extension(rows) => QueryOpenings::Extension(SharedProofOpening { rows, proof }),
    }
}

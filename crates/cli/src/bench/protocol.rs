//! What is said to the processes that prove: one JSON object a line, one answer a line.
//!
//! Our own child and bench/rivals/p3-whir speak the same protocol. `prepare` reads the statement
//! and the input, `run` proves and verifies it, `max_level` asks which level p3-whir accepts.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use fieldspar_whir::field::{EF4, EF5, Extension};
use fieldspar_whir::input::Encoding;
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params};
use fieldspar_whir::proof::preamble;
use fieldspar_whir::statement::random_point;
use p3_field::PrimeField32;
use serde::{Deserialize, Serialize};

use super::BenchError;

/// A request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Who are you?
    Info,
    /// Read this.
    Prepare(Box<Task>),
    /// Prove and verify what was prepared.
    Run,
    /// The highest level that p3-whir accepts.
    MaxLevel(Box<Task>),
    /// End.
    Quit,
}

/// One statement, in the words of both sides. What only one side reads, the other ignores.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// log2 of the number of elements.
    pub(crate) n: usize,
    folds: TaskFolds,
    rate: usize,
    round_log_inv_rates: Vec<usize>,
    assumption: String,
    security_level: usize,
    pow_bits: usize,
    extension: usize,
    cap_height: usize,
    /// Canonical.
    preamble: Vec<u32>,
    /// Canonical, one list of coefficients a coordinate.
    point: Vec<Vec<u32>>,
    /// Path of 2^n little-endian canonical u32.
    pub(crate) input: String,
    /// For our child: the same parameters in our own form.
    pub(crate) params: Params,
    /// For our child: what the point depends on.
    pub(crate) seed: u64,
    /// For our child: where to run.
    pub(crate) device: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TaskFolds {
    Constant(usize),
    PerRound(Vec<usize>),
}

fn point<EF: Extension>(seed: u64, n: usize) -> Vec<Vec<u32>> {
    random_point::<EF>(seed, n)
        .iter()
        .map(|x| {
            let coefficients = x.as_basis_coefficients_slice();
            coefficients.iter().map(|c| c.as_canonical_u32()).collect()
        })
        .collect()
}

impl Task {
    /// The statement of `params` about the polynomial of 2^n elements in `input`.
    pub(crate) fn new(
        params: &Params,
        n: usize,
        input: &str,
        seed: u64,
    ) -> Result<Self, BenchError> {
        let protocol = params.protocol_parameters(n)?;
        let bound = preamble(
            params,
            params.padded_num_variables(n),
            1 << n,
            Encoding::U32,
        )?;
        let assumption = match params.assumption {
            Assumption::UniqueDecoding => "unique",
            Assumption::Johnson => "johnson",
            Assumption::Capacity => "capacity",
        };
        Ok(Self {
            n,
            folds: match &params.folds {
                Folds::Constant(k) => TaskFolds::Constant(*k),
                Folds::PerRound(ks) => TaskFolds::PerRound(ks.clone()),
            },
            rate: params.log_inv_rate,
            round_log_inv_rates: protocol.round_log_inv_rates,
            assumption: assumption.into(),
            security_level: params.security_level,
            pow_bits: params.pow_bits,
            extension: params.degree.get(),
            cap_height: params.cap_height,
            preamble: bound.iter().map(PrimeField32::as_canonical_u32).collect(),
            point: match params.degree {
                ExtensionDegree::Four => point::<EF4>(seed, n),
                ExtensionDegree::Five => point::<EF5>(seed, n),
            },
            input: input.to_owned(),
            params: params.clone(),
            seed,
            device: String::new(),
        })
    }

    /// The same, to run on `device`.
    pub(crate) fn on(mut self, device: &str) -> Self {
        device.clone_into(&mut self.device);
        self
    }

    /// The same, at another security level, whether accepted or not.
    pub(crate) fn at_level(mut self, level: usize) -> Self {
        self.security_level = level;
        self.params.security_level = level;
        self
    }
}

/// One proof, made and checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) commit_ms: f64,
    pub(crate) open_ms: f64,
    /// commit + open, grinding included.
    pub(crate) prove_ms: f64,
    pub(crate) grind_ms: f64,
    pub(crate) verify_ms: f64,
    pub(crate) verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verify_error: Option<String>,
    /// p3-whir's `PcsProof` by postcard.
    pub(crate) proof_bytes: u64,
    pub(crate) proof_sha256: String,
    pub(crate) peak_memory_bytes: u64,
    #[serde(default)]
    pub(crate) phases: BTreeMap<String, f64>,
    /// The proof file, statement included; 0 from a rival.
    #[serde(default)]
    pub(crate) file_bytes: u64,
    /// The most that was held of a device's own memory; none on the processor.
    #[serde(default)]
    pub(crate) peak_device_memory_bytes: Option<u64>,
    /// Waits for the device, where they are counted.
    #[serde(default)]
    pub(crate) device_waits: Option<u64>,
    /// What opening the device and loading its kernels took, before the first proof.
    #[serde(default)]
    pub(crate) device_open_ms: Option<f64>,
}

/// The answer to [`Request::MaxLevel`].
#[derive(Debug, Deserialize)]
pub(crate) struct MaxLevel {
    pub(crate) max_level: Option<usize>,
}

/// An answer, or the reason why there is none.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer<T> {
    #[serde(default = "yes")]
    ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    value: Option<T>,
}

const fn yes() -> bool {
    true
}

impl<T> Answer<T> {
    /// From a result.
    pub(crate) fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self {
                ok: true,
                error: None,
                value: Some(value),
            },
            Err(error) => Self {
                ok: false,
                error: Some(error),
                value: None,
            },
        }
    }

    /// To a result.
    pub(crate) fn into_result(self) -> Result<T, String> {
        match (self.ok, self.value) {
            (true, Some(value)) => Ok(value),
            (true, None) => Err("an answer of another form".into()),
            (false, _) => Err(self.error.unwrap_or_else(|| "no reason given".into())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::grid::{Point, Setting};
    use super::*;

    #[test]
    fn a_task_says_what_the_rival_reads() {
        let point = Point {
            n: 3,
            fold: 4,
            rate: 1,
        };
        let mut params = Setting::published().params(point);
        params.security_level = 30;
        let task = Task::new(&params, 3, "/x", 7).unwrap();
        let json = serde_json::to_value(Request::Prepare(Box::new(task))).unwrap();
        assert_eq!(json["op"], "prepare");
        assert_eq!(json["folds"]["constant"], 4);
        assert_eq!(json["assumption"], "capacity");
        assert_eq!(json["point"].as_array().unwrap().len(), 3);
        assert_eq!(json["point"][0].as_array().unwrap().len(), 4);
        let back: Request = serde_json::from_value(json).unwrap();
        assert!(matches!(back, Request::Prepare(task) if task.params == params));
    }

    #[test]
    fn answers_come_back() {
        let text = serde_json::to_string(&Answer::<Run>::from(Err("no".into()))).unwrap();
        let back: Answer<Run> = serde_json::from_str(&text).unwrap();
        assert_eq!(back.into_result().unwrap_err(), "no");
        let rival = r#"{"ok":true,"witness_ms":1.0,"commit_ms":1.0,"open_ms":2.0,"prove_ms":3.0,
            "grind_ms":0.5,"verify_ms":0.1,"verified":true,"proof_bytes":10,"proof_sha256":"ab",
            "commitment":"00","value":[1,2,3,4],"peak_memory_bytes":5}"#;
        let run = serde_json::from_str::<Answer<Run>>(rival)
            .unwrap()
            .into_result()
            .unwrap();
        assert_eq!((run.proof_bytes, run.phases.len()), (10, 0));
    }
}

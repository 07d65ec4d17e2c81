//! `fpga area`: what the arithmetic would take of an FPGA.
#![forbid(unsafe_code)]

use clap::Args;
use fieldspar_fpga::rtl::area::{AreaError, Row, multipliers};
use serde_json::{Value, json};

use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};
use crate::json;

/// What every output of this verb says.
const LABEL: &str = "post-synthesis estimate, no timing";

/// Flags of `fpga area`.
#[derive(Debug, Args)]
pub(crate) struct AreaArgs {
    /// Levels of Karatsuba; repeat for several
    #[arg(long, value_name = "N", default_values_t = [2, 3, 4], value_parser = clap::value_parser!(u32).range(2..=4))]
    levels: Vec<u32>,
}

pub(crate) fn run(args: &AreaArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut rows = Vec::new();
    for levels in &args.levels {
        let mut report = |block: &str| {
            if !context.quiet() {
                eprintln!("yosys: {block}, {levels} levels");
            }
        };
        rows.extend(multipliers(*levels, &mut report)?);
    }
    let mut text = format!("{LABEL}; UltraScale+ cells by yosys\n");
    text.push_str("levels     DSP      LUT  LUT RAM       FF   CARRY4   RAM18  block\n");
    for row in &rows {
        let area = row.area;
        text.push_str(&format!(
            "{:>6}  {:>6} {:>8} {:>8} {:>8} {:>8} {:>7}  {}",
            row.levels,
            area.dsp,
            area.lut,
            area.lut_memory,
            area.ff,
            area.carry4,
            area.ram18,
            row.block
        ));
        if let Some(parts) = row.parts {
            text.push_str(&format!(" (sum: {parts})"));
        }
        text.push('\n');
    }
    let rows: Vec<Value> = rows.iter().map(in_json).collect();
    let fields = json::fields(json!({"label": LABEL, "family": "xcup", "rows": rows}));
    Ok(Outcome::new(text, fields))
}

fn in_json(row: &Row) -> Value {
    let area = row.area;
    json!({
        "block": row.block,
        "levels": row.levels,
        "sum_of": row.parts,
        "dsp": area.dsp,
        "lut": area.lut,
        "lut_memory": area.lut_memory,
        "ff": area.ff,
        "carry4": area.carry4,
        "ram18": area.ram18,
    })
}

impl From<AreaError> for Failure {
    fn from(error: AreaError) -> Self {
        let kind = match error {
            AreaError::NoYosys(_) => Kind::Unavailable,
            AreaError::Files(_) => Kind::Input,
            _ => Kind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

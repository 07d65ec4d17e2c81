//! What the arithmetic would take of an FPGA, as yosys maps it to UltraScale+ cells.
//!
//! An estimate after synthesis: nothing is placed or routed and no time is known, so it says neither
//! whether a design fits beside others nor how fast it would run. yosys maps one multiplier in minutes;
//! larger blocks are sums of what they consist of, which counts nothing that merges across them.
#![forbid(unsafe_code)]

use std::{
    fs, io,
    process::{Command, Stdio},
};

use serde_json::Value;

/// A file of `rtl/` with its name.
macro_rules! source {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../rtl/", $name, ".sv")),
        )
    };
}

/// The designs, the package of constants first: yosys reads them in this order.
const SOURCES: [(&str, &str); 10] = [
    source!("fieldspar_pkg"),
    source!("delay_line"),
    source!("ground_mul"),
    source!("ground_mul_lo"),
    source!("kmul"),
    source!("kmul_lo"),
    source!("mod_add"),
    source!("mul_comb"),
    source!("reduce_once"),
    source!("area/kmul_const"),
];

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AreaError {
    /// No yosys.
    #[error("yosys cannot be started ({0}): `apt-get install yosys`")]
    NoYosys(#[source] io::Error),
    /// The sources cannot be laid out.
    #[error("the sources cannot be written: {0}")]
    Files(#[source] io::Error),
    /// yosys refused.
    #[error("yosys on {module}: {reason}")]
    Failed {
        /// The module.
        module: String,
        /// What it says.
        reason: String,
    },
}

/// Cells of UltraScale+.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// DSP48E2.
    pub dsp: u64,
    /// LUT1 to LUT6 and inverters.
    pub lut: u64,
    /// LUTs used as memory or shift registers, in cells.
    pub lut_memory: u64,
    /// Flip-flops.
    pub ff: u64,
    /// CARRY4; the device has blocks of eight, two of these each.
    pub carry4: u64,
    /// Block RAMs in halves of 18 Kibit.
    pub ram18: u64,
}

impl Area {
    fn of_cells(cells: &serde_json::Map<String, Value>) -> Self {
        let mut area = Self::default();
        for (name, count) in cells {
            let count = count.as_u64().unwrap_or(0);
            let field = match name.as_str() {
                "DSP48E2" => &mut area.dsp,
                "INV" => &mut area.lut,
                "CARRY4" => &mut area.carry4,
                "RAMB18E2" => &mut area.ram18,
                "RAMB36E2" => {
                    area.ram18 += 2 * count;
                    continue;
                }
                name if name.starts_with("LUT") => &mut area.lut,
                name if name.starts_with("FD") => &mut area.ff,
                name if name.starts_with("SRL") || name.starts_with("RAM") => &mut area.lut_memory,
                // Wide multiplexers are part of the slices whose LUTs are counted.
                _ => continue,
            };
            *field += count;
        }
        area
    }
}

impl std::ops::Add for Area {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            dsp: self.dsp + other.dsp,
            lut: self.lut + other.lut,
            lut_memory: self.lut_memory + other.lut_memory,
            ff: self.ff + other.ff,
            carry4: self.carry4 + other.carry4,
            ram18: self.ram18 + other.ram18,
        }
    }
}

impl std::iter::Sum for Area {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), std::ops::Add::add)
    }
}

/// One block at one number of Karatsuba levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The block.
    pub block: &'static str,
    /// Karatsuba levels.
    pub levels: u32,
    /// What it is made of, where it was not synthesised as a whole.
    pub parts: Option<&'static str>,
    /// Its cells.
    pub area: Area,
}

/// The designs, laid out for yosys.
struct Yosys {
    folder: tempfile::TempDir,
}

impl Yosys {
    fn new() -> Result<Self, AreaError> {
        let folder = tempfile::tempdir().map_err(AreaError::Files)?;
        for (name, text) in SOURCES {
            fs::write(folder.path().join(file_name(name)), text).map_err(AreaError::Files)?;
        }
        Ok(Self { folder })
    }

    fn map(&self, module: &str, parameters: &[(&str, u32)]) -> Result<Area, AreaError> {
        let failed = |reason: String| AreaError::Failed {
            module: module.to_owned(),
            reason,
        };
        let files: Vec<String> = SOURCES.iter().map(|(name, _)| file_name(name)).collect();
        let set: String = parameters
            .iter()
            .map(|(name, value)| format!(" -set {name} {value}"))
            .collect();
        let script = format!(
            "read_verilog -sv {}; chparam{set} {module}; \
             synth_xilinx -family xcup -top {module} -noiopad -noclkbuf -flatten; \
             tee -q -o stat.json stat -json",
            files.join(" ")
        );
        let out = Command::new("yosys")
            .current_dir(self.folder.path())
            .args(["-q", "-p", &script])
            .stdin(Stdio::null())
            .output()
            .map_err(AreaError::NoYosys)?;
        if !out.status.success() {
            return Err(failed(
                String::from_utf8_lossy(&out.stderr).trim().to_owned(),
            ));
        }
        let text = fs::read_to_string(self.folder.path().join("stat.json"));
        let text = text.map_err(AreaError::Files)?;
        let stat: Value = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
        stat["design"]["num_cells_by_type"]
            .as_object()
            .map(Area::of_cells)
            .ok_or_else(|| failed("it prints no counts of cells".to_owned()))
    }
}

/// One module of `rtl/` with the given parameters, such as `of("kmul", &[("W", 48), ("LEV", 1)])`.
///
/// # Errors
/// [`AreaError`]: no yosys, or it failed.
pub fn of(module: &str, parameters: &[(&str, u32)]) -> Result<Area, AreaError> {
    Yosys::new()?.map(module, parameters)
}

fn file_name(name: &str) -> String {
    format!("{}.sv", name.replace('/', "_"))
}

/// Cycles that a Montgomery or Barrett product's first factor waits: `fieldspar_pkg` says the same.
const fn waiting(levels: u32) -> u32 {
    (2 + 3 * levels) + (1 + 3 * levels)
}

/// A block, its module, and the module's parameters beside `LEV`.
type Mapped = (&'static str, &'static str, &'static [(&'static str, u32)]);

/// What [`multipliers`] maps.
const MAPPED: [Mapped; 4] = [
    ("kmul", "kmul", &[]),
    ("kmul_lo", "kmul_lo", &[]),
    ("kmul by a constant", "kmul_const", &[("LOW", 0)]),
    ("kmul_lo by a constant", "kmul_const", &[("LOW", 1)]),
];

/// The multipliers at `levels` levels of Karatsuba (2 to 4), and what is made of them. `report` hears the
/// name of each block before yosys starts on it.
///
/// # Errors
/// [`AreaError`]: no yosys, or it failed.
pub fn multipliers(levels: u32, report: &mut dyn FnMut(&str)) -> Result<Vec<Row>, AreaError> {
    let yosys = Yosys::new()?;
    let row = |block, area| Row {
        block,
        levels,
        parts: None,
        area,
    };
    let mut rows = Vec::new();
    for (block, module, parameters) in MAPPED {
        report(block);
        let parameters = [&[("LEV", levels)][..], parameters].concat();
        rows.push(row(block, yosys.map(module, &parameters)?));
    }
    report("mod_add");
    rows.push(row("mod_add", yosys.map("mod_add", &[])?));
    report("delay_line");
    let ring = [("W", 385), ("N", waiting(levels))];
    rows.push(row("delay_line", yosys.map("delay_line", &ring)?));

    // All but the low product of two unknowns.
    let used = rows.iter().filter(|row| row.block != "kmul_lo");
    let multiplication: Area = used.map(|row| row.area).sum();
    let sum = |block, parts, area| Row {
        parts: Some(parts),
        ..row(block, area)
    };
    let parts = "kmul, kmul by a constant, kmul_lo by a constant, delay_line, mod_add";
    // The same five parts in another order.
    rows.push(sum("mont_mul", parts, multiplication));
    rows.push(sum("barrett_mul", parts, multiplication));
    let seven = [multiplication; 7].into_iter().sum();
    rows.push(sum("multipliers of ec_adder", "7 mont_mul", seven));
    Ok(rows)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_by_kind() {
        let cells = serde_json::json!({
            "CARRY4": 2, "DSP48E2": 3, "FDRE": 5, "INV": 1, "LUT6": 7, "LUT2": 11, "RAM32M": 13,
            "SRL16E": 17, "RAMB36E2": 1, "RAMB18E2": 1, "MUXF7": 100,
        });
        let area = Area::of_cells(cells.as_object().unwrap());
        let expected = Area {
            dsp: 3,
            lut: 19,
            lut_memory: 30,
            ff: 5,
            carry4: 2,
            ram18: 3,
        };
        assert_eq!(area, expected);
        assert_eq!([area; 2].into_iter().sum::<Area>(), area + area);
    }
}

//! Builds the simulated accelerator: Verilator turns the designs in `rtl/` into C++, the compiler that
//! into one shared object a design, which `fieldspar-fpga` opens at run time. Nothing is installed here.
#![forbid(unsafe_code)]

mod designs;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use sha2::{Digest, Sha256};

use crate::{
    Result,
    context::{Context, PROFILE, output, run as start},
    test::Outcome,
};

use designs::{SYNTHESISABLE, TOPS, Top};

/// Debian's packages.
pub(crate) const PACKAGES: [&str; 2] = ["verilator", "yosys"];
/// What a design is built from.
const FOLDER: &str = "rtl";
/// The package of constants: read before everything else.
const PACKAGE: &str = "rtl/fieldspar_pkg.sv";
/// The C face, one for all designs.
const SHIM: &str = "rtl/sim/shim.cpp";

/// Options of `cargo xtask rtl`.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only these designs [default: those that the tests of CI use].
    names: Vec<String>,
    /// Check the designs with Verilator and yosys, build nothing.
    #[arg(long)]
    lint: bool,
    /// Print the area of the multipliers by yosys as JSON.
    #[arg(long, conflicts_with = "lint")]
    area: bool,
    /// Build with waveforms, as `NAME-trace.so`.
    #[arg(long, conflicts_with_all = ["lint", "area"])]
    trace: bool,
    /// List the designs.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> Result {
    let context = Context::new()?;
    if args.list {
        for top in &TOPS {
            let parameters: Vec<String> = top.parameters().collect();
            println!("{:20} {} {}", top.name, top.source(), parameters.join(" "));
        }
        return Ok(());
    }
    for name in &args.names {
        if !TOPS.iter().any(|top| top.name == name) {
            let known = TOPS.map(|top| top.name).join(", ");
            return Err(format!("no design `{name}`; there are: {known}").into());
        }
    }
    if args.area {
        return area(&context);
    }
    if args.lint {
        return lint(&context);
    }
    let chosen = TOPS.iter().filter(|top| match args.names.is_empty() {
        true => top.ci,
        false => args.names.iter().any(|name| name == top.name),
    });
    build_all(&context, chosen, args.trace)
}

/// The leg of CI: lint, the designs, and the tests that drive them.
pub(crate) fn leg(context: &Context) -> Result<Outcome> {
    if missing().is_some() {
        let installed = crate::adapters::apt(context, &PACKAGES);
        if missing().is_some() && env::var_os("CI").is_none() {
            return Ok(Outcome::Skipped(
                "verilator and yosys are not here, and apt-get could not install them",
            ));
        }
        installed?;
    }
    lint(context)?;
    build_all(context, TOPS.iter().filter(|top| top.ci), false)?;
    start(
        context
            .cargo()
            .env("FIELDSPAR_RTL", objects(context))
            .args(["test", "--workspace", "--locked", "--profile", PROFILE])
            .args(["--test", "fpga", "--", "rtl"]),
    )?;
    Ok(Outcome::Passed)
}

/// What has to be installed, if something lacks.
fn missing() -> Option<String> {
    let lacks = |program: &&str| {
        let found = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        found.is_err()
    };
    let lacking: Vec<&str> = ["verilator", "make", "g++", "yosys"]
        .into_iter()
        .filter(lacks)
        .collect();
    let packages = PACKAGES.join(" ");
    (!lacking.is_empty()).then(|| {
        format!(
            "{} not found: apt-get install {packages}",
            lacking.join(", ")
        )
    })
}

fn complete() -> Result {
    missing().map_or(Ok(()), |what| Err(what.into()))
}

/// Where the shared objects lie.
pub(crate) fn objects(context: &Context) -> PathBuf {
    context.target.join("rtl")
}

/// Verilator's command up to the top.
fn verilator(context: &Context, top: &Top) -> Command {
    let mut command = context.command("verilator");
    command
        .args(["-y", FOLDER, PACKAGE, &top.source()])
        .args(["--top-module", top.module])
        .args(top.parameters());
    command
}

fn lint(context: &Context) -> Result {
    complete()?;
    for top in &TOPS {
        let mut command = verilator(context, top);
        start(command.args(["--lint-only", "-Wall"]))?;
    }
    for (module, parameters) in SYNTHESISABLE {
        let set: String = parameters
            .iter()
            .map(|(name, value)| format!(" -chparam {name} {value}"))
            .collect();
        let files = sources(context)?;
        let files: Vec<String> = files
            .iter()
            .filter(|path| path.ends_with(".sv") && !path.starts_with("rtl/sim"))
            .cloned()
            .collect();
        let script = format!(
            "read_verilog -sv {}; hierarchy -check -top {module}{set}; proc; check -assert",
            files.join(" ")
        );
        start(context.command("yosys").args(["-q", "-p", &script]))?;
    }
    Ok(())
}

/// Every file of the folder, the package first, then by name.
fn sources(context: &Context) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(FOLDER)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(context.root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort_by_key(|path| (path != PACKAGE, path.clone()));
    Ok(found)
}

fn build_all<'a>(context: &Context, tops: impl Iterator<Item = &'a Top>, trace: bool) -> Result {
    complete()?;
    let version = output(context.command("verilator").arg("--version"))?;
    let root = output(
        context
            .command("verilator")
            .args(["--getenv", "VERILATOR_ROOT"]),
    )?;
    let include = Path::new(root.trim()).join("include");
    let builder = Builder {
        context,
        runtime: runtime(context, &include, &version, trace)?,
        version,
        include,
        trace,
    };
    for top in tops {
        builder.build(top)?;
    }
    Ok(())
}

/// For code that is compiled into a shared object that hides everything but the C face.
const POSITION: [&str; 3] = ["-fPIC", "-fvisibility=hidden", "-fno-gnu-unique"];

/// Options that Verilator gets beside the design.
const OPTIONS: [&str; 10] = [
    "--cc",
    "-O3",
    "--noassert",
    "-Wno-fatal",
    // Initial values come from the seed that a simulation is opened with.
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    // Files small enough to be compiled side by side.
    "--output-split",
    "20000",
];

/// -O2 runs no faster and compiles far longer; what runs once needs neither.
const OPTIMISATION: [&str; 2] = ["OPT_FAST=-O1", "OPT_SLOW=-O0"];

/// Verilator's own library, compiled once for all designs.
fn runtime(context: &Context, include: &Path, version: &str, trace: bool) -> Result<Vec<PathBuf>> {
    let (folder, sources): (_, &[&str]) = match trace {
        true => (
            "runtime-trace",
            &["verilated", "verilated_threads", "verilated_vcd_c"],
        ),
        false => ("runtime", &["verilated", "verilated_threads"]),
    };
    let folder = objects(context).join("build").join(folder);
    let stamp = folder.join("stamp");
    let files = sources
        .iter()
        .map(|name| folder.join(format!("{name}.o")))
        .collect();
    if fs::read_to_string(&stamp).is_ok_and(|built| built == version) {
        return Ok(files);
    }
    fs::create_dir_all(&folder)?;
    let tracing = u8::from(trace);
    for (name, object) in sources.iter().zip(&files) {
        let mut command = context.command("g++");
        command
            .args(["-std=gnu++17", "-O2", "-c"])
            .args(POSITION)
            .args([
                format!("-DVM_TRACE={tracing}"),
                format!("-DVM_TRACE_VCD={tracing}"),
            ])
            .args(["-DVM_TRACE_FST=0", "-DVM_COVERAGE=0", "-DVM_SC=0"])
            .arg("-I")
            .arg(include)
            .arg("-I")
            .arg(include.join("vltstd"))
            .arg(include.join(format!("{name}.cpp")))
            .arg("-o")
            .arg(object);
        start(&mut command)?;
    }
    fs::write(&stamp, version)?;
    Ok(files)
}

struct Builder<'a> {
    context: &'a Context,
    /// Objects of Verilator's library.
    runtime: Vec<PathBuf>,
    /// Verilator's.
    version: String,
    /// Its headers.
    include: PathBuf,
    trace: bool,
}

impl Builder<'_> {
    /// What the design is built from, as it is now: the files that Verilator read when it was built.
    fn state(&self, top: &Top, work: &Path) -> Result<String> {
        let listed = fs::read_to_string(work.join(format!("V{}__ver.d", top.module)))?;
        let (_, listed) = listed.split_once(" : ").ok_or("Verilator lists no files")?;
        let read = listed
            .split_whitespace()
            .filter(|path| path.starts_with(FOLDER));
        let mut hash = Sha256::new();
        hash.update(&self.version);
        for word in OPTIONS.iter().chain(&POSITION).chain(&OPTIMISATION) {
            hash.update(word);
        }
        for word in top.parameters() {
            hash.update(word);
        }
        for path in read.chain([SHIM]) {
            let text = fs::read(self.context.root.join(path))?;
            hash.update(path);
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let digest: [u8; 32] = hash.finalize().into();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Builds one design unless it was built from these very files.
    fn build(&self, top: &Top) -> Result {
        let context = self.context;
        let name = match self.trace {
            true => format!("{}-trace", top.name),
            false => top.name.to_owned(),
        };
        let clock = Instant::now();
        let folder = objects(context);
        let work = folder.join("build").join(&name);
        let object = folder.join(format!("{name}.so"));
        let stamp = folder.join(format!("{name}.stamp"));
        let built = fs::read_to_string(&stamp).unwrap_or_default();
        if object.exists() && self.state(top, &work).is_ok_and(|now| now == built) {
            println!("{name}: built before");
            return Ok(());
        }
        let _ = fs::remove_file(&stamp);
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work)?;

        let mut command = verilator(context, top);
        command.args(OPTIONS).args(["-CFLAGS", &POSITION.join(" ")]);
        if self.trace {
            command.arg("--trace");
        }
        start(command.arg("--Mdir").arg(&work))?;
        let class = format!("V{}", top.module);
        let header = fs::read_to_string(work.join(format!("{class}.h")))?;
        let ports = ports(&header);
        if ports.is_empty() {
            return Err(format!("{class}.h names no ports").into());
        }
        fs::write(work.join("ports.inc"), ports)?;

        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let archive = format!("{class}__ALL.a");
        start(
            context
                .command("make")
                .args(["-s", "-j", &jobs.to_string(), "-C"])
                .arg(&work)
                .args(["-f", &format!("{class}.mk"), "VM_PARALLEL_BUILDS=1"])
                .args(OPTIMISATION)
                .arg(&archive)
                .stdout(Stdio::null()),
        )?;
        let mut link = context.command("g++");
        link.args(["-std=gnu++17", "-O1", "-shared", "-Wl,-Bsymbolic"])
            .args(POSITION)
            .arg("-I")
            .arg(&work)
            .arg("-isystem")
            .arg(&self.include)
            .arg("-isystem")
            .arg(self.include.join("vltstd"))
            .arg(format!("-DFIELDSPAR_TOP={class}"))
            .arg(format!("-DFIELDSPAR_HEADER=\"{class}.h\""))
            .arg("-DFIELDSPAR_PORTS=\"ports.inc\"");
        if self.trace {
            link.arg("-DFIELDSPAR_TRACE");
        }
        link.arg(SHIM).arg(work.join(&archive)).args(&self.runtime);
        start(link.args(["-pthread", "-latomic", "-o"]).arg(&object))?;
        fs::write(&stamp, self.state(top, &work)?)?;
        println!("{name}: built in {:.0} s", clock.elapsed().as_secs_f64());
        Ok(())
    }
}

/// `PORT(name, bits)` for each port of a Verilated class.
fn ports(header: &str) -> String {
    let mut found = String::new();
    for line in header.lines() {
        // VL_IN8(&clk,0,0); VL_OUTW(&out_x,383,0,12);
        let Some((kind, rest)) = line.trim().split_once("(&") else {
            continue;
        };
        if !kind.starts_with("VL_IN") && !kind.starts_with("VL_OUT") {
            continue;
        }
        let mut words = rest.split([',', ')']);
        let (Some(name), Some(Ok(high)), Some(Ok(low))) = (
            words.next(),
            words.next().map(str::parse::<u32>),
            words.next().map(str::parse::<u32>),
        ) else {
            continue;
        };
        found.push_str(&format!("PORT({name}, {})\n", high + 1 - low));
    }
    found
}

/// `fieldspar fpga area` knows how; this is where one looks for it.
fn area(context: &Context) -> Result {
    let mut command = context.cargo();
    command.args([
        "run",
        "--quiet",
        "--locked",
        "--profile",
        PROFILE,
        "-p",
        "fieldspar",
        "--",
    ]);
    start(command.args(["fpga", "area", "--json"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_from_the_header() {
        let header = "    VL_IN8(&clk,0,0);\n    VL_OUTW(&r,383,0,12);\n    VL_IN16(&tag,15,0);\n";
        assert_eq!(ports(header), "PORT(clk, 1)\nPORT(r, 384)\nPORT(tag, 16)\n");
    }

    #[test]
    fn designs_have_names_and_files_of_their_own() -> Result {
        let context = Context::new()?;
        let names: std::collections::BTreeSet<_> = TOPS.iter().map(|top| top.name).collect();
        assert_eq!(names.len(), TOPS.len());
        for top in &TOPS {
            assert!(
                context.root.join(top.source()).is_file(),
                "{}",
                top.source()
            );
        }
        Ok(())
    }
}

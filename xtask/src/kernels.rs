//! Compiles the CUDA kernels of each capability and packs them into the archive that its crate embeds.

mod format;
mod generate;
mod nvrtc;
mod toolkit;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use sha2::{Digest, Sha256};

use crate::{Result, context::Context};
use format::{Contents, Module};
use nvrtc::{Nvrtc, Target, Text};
use toolkit::Manifest;
pub(crate) use toolkit::POSSIBLE;

/// The largest archive that may be committed.
const LARGEST: usize = 4 << 20;
/// What `--dev` compiles for.
const DEV: u16 = 90;

/// Options of `cargo xtask kernels`.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only these capabilities (folders of crates/).
    names: Vec<String>,
    /// Compile, and compare with what is committed; write nothing.
    #[arg(long, conflicts_with_all = ["dev", "out"])]
    check: bool,
    /// With --check, compile for sm_90 and as PTX only; of the other images that they are there, made
    /// from the same sources. What CI does: all of them take minutes.
    #[arg(long, requires = "check")]
    quick: bool,
    /// Compile for sm_90 only.
    #[arg(long)]
    dev: bool,
    /// Write the archive here instead of into the crate.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show registers, spills and shared memory of each kernel.
    #[arg(long)]
    usage: bool,
}

/// The kernels of one capability.
struct Capability {
    name: String,
    /// Where its sources lie.
    folder: PathBuf,
    /// Its archive.
    archive: PathBuf,
}

impl Capability {
    /// Every capability that has kernels, by name.
    fn all(context: &Context) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(context.root.join("crates"))? {
            let cuda = entry?.path().join("src/cuda");
            let folder = cuda.join("kernels");
            let name = cuda.ancestors().nth(2).and_then(Path::file_name);
            if let Some(name) = name.filter(|_| folder.is_dir()) {
                found.push(Self {
                    name: name.to_string_lossy().into_owned(),
                    archive: cuda.join("kernels.bin"),
                    folder,
                });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

/// The sources of a capability: name relative to their folder, and text.
struct Sources {
    /// `.cu` files: one module each.
    modules: Vec<(String, String)>,
    /// `.cuh` files, also in folders below. They are included by this name, wherever from.
    headers: Vec<(String, String)>,
    /// Sha256 of names and texts of all of them.
    sha256: [u8; 32],
}

impl Sources {
    fn read(folder: &Path) -> Result<Self> {
        let (mut modules, mut headers) = (Vec::new(), Vec::new());
        let mut folders = vec![folder.to_owned()];
        while let Some(inside) = folders.pop() {
            for entry in fs::read_dir(&inside)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(folder)?.to_string_lossy();
                let name = name.replace('\\', "/");
                let list = match path.extension().and_then(|e| e.to_str()) {
                    Some("cu") if inside == folder => &mut modules,
                    Some("cuh") => &mut headers,
                    _ => continue,
                };
                let text = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
                list.push((name, text));
            }
        }
        modules.sort();
        headers.sort();
        let mut hash = Sha256::new();
        for (name, text) in modules.iter().chain(&headers) {
            for part in [name, text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        Ok(Self {
            modules,
            headers,
            sha256: hash.finalize().into(),
        })
    }
}

/// One call of the compiler.
struct Job<'a> {
    nvrtc: &'a Nvrtc,
    /// File name.
    source: &'a str,
    text: &'a Text,
    target: Target,
    arch: u16,
}

/// Compiles every module for every architecture of the manifest.
fn compile(
    context: &Context,
    manifest: &Manifest,
    sources: &Sources,
    args: &Args,
) -> Result<Vec<Module>> {
    let texts = |list: &[(String, String)]| -> Result<Vec<Text>> {
        list.iter()
            .map(|(name, text)| Text::new(name, text))
            .collect()
    };
    let (modules, headers) = (texts(&sources.modules)?, texts(&sources.headers)?);
    let wanted = |arch: &&u16| !(args.dev || args.quick) || **arch == DEV;
    let mut compilers = Vec::new();
    for toolkit in &manifest.toolkits {
        let cubins = toolkit.cubins.iter().filter(wanted);
        let ptx = toolkit.ptx.iter().filter(|_| !args.dev);
        let targets: Vec<(Target, u16)> = cubins
            .map(|a| (Target::Cubin, *a))
            .chain(ptx.map(|a| (Target::Ptx, *a)))
            .collect();
        if !targets.is_empty() {
            compilers.push((manifest.open(context, toolkit)?, targets));
        }
    }
    let mut jobs = Vec::new();
    for ((source, _), text) in sources.modules.iter().zip(&modules) {
        for (nvrtc, targets) in &compilers {
            jobs.extend(targets.iter().map(|&(target, arch)| Job {
                nvrtc,
                source,
                text,
                target,
                arch,
            }));
        }
    }
    let run = |job: &Job<'_>| -> Result<Module> {
        let mut options = manifest.options.clone();
        options.push(format!(
            "--gpu-architecture={}",
            job.target.architecture(job.arch)
        ));
        let module = Module {
            name: job.source.trim_end_matches(".cu").to_owned(),
            target: job.target,
            arch: job.arch,
            bytes: Vec::new(),
        };
        let call = |options: &[String]| {
            let result = job.nvrtc.compile(job.text, &headers, options, job.target);
            result.map_err(|e| format!("{}: {e}", module.label()))
        };
        let (mut bytes, mut log) = call(&options)?;
        if job.target == Target::Ptx {
            bytes = renumber_calls(bytes);
        }
        if args.usage && job.target == Target::Cubin {
            // On its own: newer cubins note the options that made them.
            options.push("--ptxas-options=-v".into());
            log = call(&options)?.1;
        }
        if !log.is_empty() {
            eprintln!("{}:\n{log}", module.label());
        }
        Ok(Module { bytes, ..module })
    };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(job).map_err(|e| e.to_string());
                    done.lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner())
                        .push(result);
                }
            });
        }
    });
    let done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut modules = done
        .into_iter()
        .collect::<std::result::Result<Vec<_>, _>>()?;
    modules.sort();
    Ok(modules)
}

/// Numbers the calls of a PTX text from 0: the compiler counts them on through all that one process
/// compiles, in comments that nothing reads, and the same source would give other bytes each time.
fn renumber_calls(ptx: Vec<u8>) -> Vec<u8> {
    const CALL: &[u8] = b"callseq ";
    let mut numbers: Vec<Vec<u8>> = Vec::new();
    let mut out = Vec::with_capacity(ptx.len());
    let mut rest = ptx.as_slice();
    while let Some(at) = rest.windows(CALL.len()).position(|w| w == CALL) {
        let (before, after) = rest.split_at(at + CALL.len());
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, after) = after.split_at(digits);
        let known = numbers.iter().position(|n| n == number);
        let new = known.unwrap_or_else(|| {
            numbers.push(number.to_vec());
            numbers.len() - 1
        });
        out.extend_from_slice(before);
        out.extend_from_slice(new.to_string().as_bytes());
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// What differs between an archive and a fresh compile.
fn differences(stored: &Contents, fresh: &Contents) -> Vec<String> {
    let mut wrong = Vec::new();
    if stored.sources != fresh.sources {
        wrong.push("it was made from other sources".to_owned());
    }
    let labels = |c: &Contents| c.modules.iter().map(Module::label).collect::<Vec<_>>();
    if labels(stored) != labels(fresh) {
        wrong.push(format!(
            "it holds {}, where {} are expected",
            labels(stored).join(", "),
            labels(fresh).join(", ")
        ));
    } else {
        let pairs = stored.modules.iter().zip(&fresh.modules);
        let different = pairs.filter(|(s, f)| s.bytes != f.bytes);
        wrong.extend(different.map(|(s, _)| format!("{} has other bytes", s.label())));
    }
    wrong
}

/// `cargo xtask kernels`.
pub(crate) fn run(args: &Args) -> Result {
    make(&Context::new()?, args)
}

/// `cargo xtask kernels --check --quick`.
pub(crate) fn check(context: &Context) -> Result {
    let (check, quick) = (true, true);
    make(
        context,
        &Args {
            check,
            quick,
            ..Args::default()
        },
    )
}

fn make(context: &Context, args: &Args) -> Result {
    let all = Capability::all(context)?;
    for name in &args.names {
        if !all.iter().any(|c| c.name == *name) {
            let known: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
            return Err(format!("no kernels in `{name}`; there are: {}", known.join(", ")).into());
        }
    }
    let chosen: Vec<_> = all
        .iter()
        .filter(|c| args.names.is_empty() || args.names.contains(&c.name))
        .collect();
    if args.out.is_some() && chosen.len() != 1 {
        return Err("--out takes the archive of one capability: name it".into());
    }
    let manifest = Manifest::read(context)?;
    for capability in chosen {
        let clock = Instant::now();
        if args.check {
            generate::check(&capability.name, &capability.folder)?;
        } else {
            generate::write(&capability.name, &capability.folder)?;
        }
        let sources = Sources::read(&capability.folder)?;
        let fresh = Contents {
            sources: sources.sha256,
            modules: compile(context, &manifest, &sources, args)?,
        };
        let path = args.out.as_ref().unwrap_or(&capability.archive);
        let shown = path.strip_prefix(&context.root).unwrap_or(path).display();
        if args.check {
            let stored = fs::read(path).map_err(|e| format!("{shown}: {e}"))?;
            let mut stored = format::read(&stored).map_err(|e| format!("{shown}: {e}"))?;
            if args.quick {
                let (have, want) = (
                    stored.modules.len(),
                    manifest.images() * sources.modules.len(),
                );
                if have != want {
                    return Err(format!("{shown}: {have} images, {want} expected").into());
                }
                let compiled = |m: &Module| m.target == Target::Ptx || m.arch == DEV;
                stored.modules.retain(compiled);
            }
            let wrong = differences(&stored, &fresh);
            if !wrong.is_empty() {
                let wrong = wrong.join("; ");
                return Err(format!("{shown}: {wrong}: run `cargo xtask kernels`").into());
            }
        } else {
            let bytes = format::write(&fresh)?;
            if bytes.len() > LARGEST {
                let (have, most) = (bytes.len(), LARGEST);
                return Err(format!("{shown}: {have} bytes, {most} at most").into());
            }
            fs::write(path, &bytes).map_err(|e| format!("{shown}: {e}"))?;
        }
        let raw: usize = fresh.modules.iter().map(|m| m.bytes.len()).sum();
        println!(
            "{shown}: {} images of {} modules, {raw} bytes, {} packed, {} in {:.1} s",
            fresh.modules.len(),
            sources.modules.len(),
            fs::metadata(path)?.len(),
            if args.check { "checked" } else { "compiled" },
            clock.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_are_numbered_from_zero() {
        let ptx =
            b"{ // callseq 17, 0\n} // callseq 17\n{ // callseq 21, 0\n} // callseq 21\n; callseq"
                .to_vec();
        let expected =
            b"{ // callseq 0, 0\n} // callseq 0\n{ // callseq 1, 0\n} // callseq 1\n; callseq";
        assert_eq!(super::renumber_calls(ptx), expected);
    }
}

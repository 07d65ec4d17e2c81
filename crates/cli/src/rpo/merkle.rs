//! `rpo merkle`: trees over the rows of a file.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::merkle::{MerkleTree, Opening, Openings, Stream};
use fieldspar_rpo::{Digest, Error, Sponge};
use serde_json::{Value, json};

use super::{open_engine, open_processor, read, tree_file, words};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;
use crate::whir::output;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum MerkleCommand {
    /// Build a tree and keep it in a file
    Build(BuildArgs),
    /// Print the root of a tree without keeping the tree
    Root(RootArgs),
    /// Prove leaves of a tree; prints the opening as JSON
    Open(OpenArgs),
    /// Check an opening against a root
    Verify(VerifyArgs),
    /// Put leaves after the last one of a tree
    Append(AppendArgs),
}

impl MerkleCommand {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Build(_) => "rpo merkle build",
            Self::Root(_) => "rpo merkle root",
            Self::Open(_) => "rpo merkle open",
            Self::Verify(_) => "rpo merkle verify",
            Self::Append(_) => "rpo merkle append",
        }
    }
}

/// What the leaves are.
#[derive(Debug, Args)]
pub(crate) struct LeafArgs {
    /// The file of leaves, or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which RPO-256: miden-0.22, miden-0.13 or paper-2023; their roots differ
    #[arg(long, value_parser = super::sponge)]
    sponge: Sponge,
    /// A leaf is the hash of so many elements of eight bytes; without it the file holds the leaves
    /// themselves, digests of 32 bytes
    #[arg(long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    width: Option<u32>,
    /// Put zero digests after the leaves up to a power of two; without it another number is refused
    #[arg(long)]
    pad: bool,
}

/// Flags of `rpo merkle build`.
#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    leaves: LeafArgs,
    /// The file to write
    #[arg(long, value_name = "TREE")]
    out: PathBuf,
    /// Replace it if it exists
    #[arg(long)]
    force: bool,
}

/// Flags of `rpo merkle root`.
#[derive(Debug, Args)]
pub(crate) struct RootArgs {
    #[command(flatten)]
    leaves: LeafArgs,
}

/// Flags of `rpo merkle open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// The tree, written by `rpo merkle build`
    tree: PathBuf,
    /// Which leaves, from 0; of several what their paths share is printed once
    #[arg(required = true)]
    index: Vec<u64>,
    /// The sponge of the tree
    #[arg(long, value_parser = super::sponge)]
    sponge: Sponge,
}

/// Flags of `rpo merkle verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The opening, printed by `rpo merkle open`, or `-`
    opening: PathBuf,
    /// The root to trust, in hexadecimal
    #[arg(long, value_parser = digest)]
    root: Digest,
    /// How deep the tree is: a node may not pass for a leaf
    #[arg(long)]
    depth: usize,
    /// The sponge of the tree
    #[arg(long, value_parser = super::sponge)]
    sponge: Sponge,
}

/// Flags of `rpo merkle append`.
#[derive(Debug, Args)]
pub(crate) struct AppendArgs {
    /// The tree, which is replaced
    tree: PathBuf,
    #[command(flatten)]
    leaves: LeafArgs,
}

fn digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|e: Error| e.to_string())
}

/// Leaves to a piece of a file: what is read and hashed at a time.
const PIECE: usize = 1 << 14;

impl LeafArgs {
    /// Calls `take` with the leaves, some at a time.
    fn each(
        &self,
        engine: &dyn Engine,
        mut take: impl FnMut(&[Digest]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = self.width.map_or(32, |width| 8 * width as usize);
        let mut source: Box<dyn std::io::Read> = match self.file.as_os_str() == "-" {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(std::fs::File::open(&self.file).map_err(|e| self.unreadable(&e))?),
        };
        // At least one leaf, and otherwise about 16 MiB.
        let piece = size * ((1 << 24) / size).clamp(1, PIECE);
        let mut before = 0;
        loop {
            let mut bytes = Vec::new();
            let mut part = std::io::Read::take(&mut source, piece as u64);
            std::io::Read::read_to_end(&mut part, &mut bytes).map_err(|e| self.unreadable(&e))?;
            if bytes.len() % size != 0 {
                let at = before + bytes.len() - bytes.len() % size;
                return Err(Failure::input(format!(
                    "the last leaf is cut short: a leaf has {size} bytes"
                ))
                .at(format!("byte {at}"))
                .in_file(&self.file));
            }
            let leaves = self.leaves(engine, &bytes, before / 8)?;
            take(&leaves)?;
            before += bytes.len();
            if bytes.len() < piece {
                return Ok(());
            }
        }
    }

    fn unreadable(&self, error: &std::io::Error) -> Failure {
        Failure::input(format!("cannot read: {error}")).in_file(&self.file)
    }

    /// The leaves in a piece of the file that begins with element `first`.
    fn leaves(
        &self,
        engine: &dyn Engine,
        bytes: &[u8],
        first: usize,
    ) -> Result<Vec<Digest>, Failure> {
        let words = words(bytes).map_err(|e| e.in_file(&self.file))?;
        if let Err(error) = fieldspar_rpo::check_canonical(&words) {
            let error = match error {
                Error::NotCanonical { index, value } => Error::NotCanonical {
                    index: first + index,
                    value,
                },
                other => other,
            };
            return Err(Failure::from(error).in_file(&self.file));
        }
        match self.width {
            Some(_) if words.is_empty() => Ok(Vec::new()),
            Some(width) => Ok(engine.hash_rows(self.sponge, &words, width as usize)?),
            None => Ok(words
                .as_chunks::<4>()
                .0
                .iter()
                .map(|w| Digest::new(*w))
                .collect::<Result<_, _>>()?),
        }
    }

    fn all(&self, engine: &dyn Engine) -> Result<Vec<Digest>, Failure> {
        let mut all = Vec::new();
        self.each(engine, |leaves| {
            all.extend_from_slice(leaves);
            Ok(())
        })?;
        Ok(all)
    }
}

fn report(sponge: Sponge, leaves: u64, root: Digest, depth: usize, begin: Instant) -> Outcome {
    let fields = json::fields(json!({
        "sponge": sponge.name(), "leaves": leaves, "depth": depth, "root": root.to_string(),
        "ms": json::ms(begin.elapsed()),
    }));
    Outcome::new(format!("{root}\n"), fields)
}

pub(crate) fn run(command: &MerkleCommand, context: &Context) -> Result<Outcome, Failure> {
    match command {
        MerkleCommand::Build(args) => build(args, context),
        MerkleCommand::Root(args) => root(args, context),
        MerkleCommand::Open(args) => open(args, context),
        MerkleCommand::Verify(args) => verify(args, context),
        MerkleCommand::Append(args) => append(args, context),
    }
}

fn build(args: &BuildArgs, context: &Context) -> Result<Outcome, Failure> {
    output::check(&args.out, args.force)?;
    output::distinct(&[("--out", &args.out)], &[("FILE", &args.leaves.file)])?;
    let (device, engine) = open_engine(context)?;
    let begin = Instant::now();
    let leaves = args.leaves.all(&*engine)?;
    let sponge = args.leaves.sponge;
    let tree = match args.leaves.pad {
        true => MerkleTree::build_padded(&*engine, sponge, leaves)?,
        false => MerkleTree::build(&*engine, sponge, leaves)?,
    };
    let count = tree.leaves().len() as u64;
    let outcome = report(sponge, count, tree.root(), tree.depth(), begin);
    tree_file::write(&args.out, &tree, args.force)?;
    Ok(outcome.on(&device))
}

fn root(args: &RootArgs, context: &Context) -> Result<Outcome, Failure> {
    let (device, engine) = open_engine(context)?;
    let begin = Instant::now();
    let sponge = args.leaves.sponge;
    let mut stream = Stream::new(&*engine, sponge);
    args.leaves
        .each(&*engine, |leaves| Ok(stream.push(leaves)?))?;
    let count = stream.count();
    let root = match args.leaves.pad {
        true => stream.finish_padded()?,
        false => stream.finish()?,
    };
    let depth = count.next_power_of_two().ilog2() as usize;
    Ok(report(sponge, count, root, depth, begin).on(&device))
}

fn append(args: &AppendArgs, context: &Context) -> Result<Outcome, Failure> {
    output::distinct(&[("TREE", &args.tree)], &[("FILE", &args.leaves.file)])?;
    let (device, engine) = open_engine(context)?;
    let begin = Instant::now();
    let mut tree = tree_file::load(&args.tree, args.leaves.sponge)?;
    let leaves = args.leaves.all(&*engine)?;
    let count = tree.leaves().len() + leaves.len();
    if !args.leaves.pad && !count.is_power_of_two() {
        return Err(Failure::input(format!(
            "there would be {count} leaves, which is no power of two; --pad puts zero digests after them"
        )));
    }
    tree.append(&*engine, &leaves)?;
    let outcome = report(
        tree.sponge(),
        count as u64,
        tree.root(),
        tree.depth(),
        begin,
    );
    tree_file::write(&args.tree, &tree, true)?;
    Ok(outcome.on(&device))
}

fn hex(digests: &[Digest]) -> Vec<String> {
    digests.iter().map(ToString::to_string).collect()
}

fn open(args: &OpenArgs, context: &Context) -> Result<Outcome, Failure> {
    let (device, engine) = open_processor(context)?;
    let tree = tree_file::load(&args.tree, args.sponge)?;
    let (root, depth) = (tree.root(), tree.depth());
    let (mut fields, held) = match args.index[..] {
        [index] => {
            let opening = tree.open(index)?;
            let fields = json!({
                "index": opening.index,
                "leaf": opening.leaf.to_string(),
                "path": hex(&opening.path),
            });
            (fields, opening.verify(&engine, args.sponge, root, depth))
        }
        _ => {
            let openings = tree.open_many(&args.index)?;
            let (index, leaf): (Vec<u64>, Vec<Digest>) = openings.leaves.iter().copied().unzip();
            let fields = json!({
                "index": index, "leaf": hex(&leaf), "path": hex(&openings.siblings),
            });
            (fields, openings.verify(&engine, args.sponge, root, depth))
        }
    };
    // A file that was damaged is found here and not by whoever gets the opening.
    held.map_err(|e| Failure::input(format!("the tree is damaged: {e}")).in_file(&args.tree))?;
    fields["sponge"] = json!(args.sponge.name());
    fields["depth"] = json!(depth);
    fields["root"] = json!(root.to_string());
    let text = format!("{fields}\n");
    Ok(Outcome::new(text, json::fields(fields)).on(&device))
}

/// One digest, or a list of them.
fn digests(value: &Value, name: &str) -> Result<Vec<Digest>, Failure> {
    let wrong = || Failure::input(format!("{name} is missing or no list of digests")).at(name);
    let list = match value {
        Value::Array(list) => &list[..],
        Value::String(_) => std::slice::from_ref(value),
        _ => return Err(wrong()),
    };
    list.iter()
        .map(|d| {
            let text = d.as_str().ok_or_else(wrong)?;
            text.parse::<Digest>().map_err(Failure::from)
        })
        .collect()
}

fn read_opening(path: &Path) -> Result<Value, Failure> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|e| Failure::input(format!("no opening: {e}")).in_file(path))
}

fn verify(args: &VerifyArgs, context: &Context) -> Result<Outcome, Failure> {
    let (device, engine) = open_processor(context)?;
    let value = read_opening(&args.opening)?;
    let leaf = digests(&value["leaf"], "leaf").map_err(|e| e.in_file(&args.opening))?;
    let path = digests(&value["path"], "path").map_err(|e| e.in_file(&args.opening))?;
    let wrong = || Failure::input("index is missing or no number").in_file(&args.opening);
    let held = match &value["index"] {
        Value::Array(list) => {
            let index: Option<Vec<u64>> = list.iter().map(Value::as_u64).collect();
            let index = index.filter(|i| i.len() == leaf.len()).ok_or_else(wrong)?;
            let openings = Openings {
                leaves: index.into_iter().zip(leaf).collect(),
                siblings: path,
            };
            openings.verify(&engine, args.sponge, args.root, args.depth)
        }
        one => {
            let index = one.as_u64().ok_or_else(wrong)?;
            let [leaf] = leaf[..] else {
                return Err(wrong());
            };
            let opening = Opening { index, leaf, path };
            opening.verify(&engine, args.sponge, args.root, args.depth)
        }
    };
    let reason = held.err().map(|e| e.to_string());
    let valid = reason.is_none();
    let text = match &reason {
        None => "valid\n".to_owned(),
        Some(reason) => format!("INVALID: {reason}\n"),
    };
    let fields = json!({
        "valid": valid, "reason": reason, "sponge": args.sponge.name(),
        "root": args.root.to_string(), "depth": args.depth, "index": value["index"],
    });
    let outcome = Outcome::new(text, json::fields(fields)).on(&device);
    Ok(outcome.answer(valid))
}

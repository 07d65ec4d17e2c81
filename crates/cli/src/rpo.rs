//! The verbs of `rpo`.
#![forbid(unsafe_code)]

pub(crate) mod bench;
pub(crate) mod hash;
pub(crate) mod merkle;
mod rival;
mod tree_file;

use std::io::Read;
use std::path::Path;

use clap::Subcommand;
use fieldspar_device::{Device, DeviceKind};
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::cuda::CudaEngine;
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::wgpu::WgpuEngine;
use fieldspar_rpo::{Error, Sponge};

use crate::context::Context;
use crate::failure::{Failure, Kind};

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum RpoCommand {
    /// Hash files, or standard input
    Hash(hash::HashArgs),
    /// Trees over rows of elements, or over digests
    #[command(subcommand)]
    Merkle(merkle::MerkleCommand),
    /// Measure against miden-crypto and p3-rescue
    Bench(bench::BenchArgs),
}

impl RpoCommand {
    /// The verb, as `command` in JSON.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Hash(_) => "rpo hash",
            Self::Merkle(verb) => verb.name(),
            Self::Bench(_) => "rpo bench",
        }
    }
}

/// The kinds of devices that have an engine for RPO.
const ENGINES: [DeviceKind; 3] = [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Wgpu];

/// A sponge by its name on the command line.
fn sponge(name: &str) -> Result<Sponge, String> {
    name.parse().map_err(|e: Error| e.to_string())
}

/// The device that the flags name, and its engine.
fn open_engine(context: &Context) -> Result<(Device, Box<dyn Engine>), Failure> {
    let (spec, _) = context.device_spec()?;
    let device = Device::open_for(&spec, &ENGINES)?;
    let engine: Box<dyn Engine> = match (device.cpu_variant(), device.cuda(), device.wgpu()) {
        (Some(variant), ..) => Box::new(CpuEngine::new(variant)?),
        (_, Some(cuda), _) => Box::new(CudaEngine::new(cuda)?),
        (.., Some(wgpu)) => Box::new(WgpuEngine::new(wgpu)?),
        _ => return Err(no_engine(&device)),
    };
    Ok((device, engine))
}

/// The engine of the processor.
fn open_processor(context: &Context) -> Result<(Device, CpuEngine), Failure> {
    let device = context.open_processor()?;
    let variant = device.cpu_variant().ok_or_else(|| no_engine(&device))?;
    Ok((device, CpuEngine::new(variant)?))
}

fn no_engine(device: &Device) -> Failure {
    let spec = &device.info().spec;
    Failure::new(
        Kind::Unavailable,
        format!("this build has no RPO engine for {spec}"),
    )
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::input(error.to_string());
        match error {
            Error::NotCanonical { index, .. } => failure.at(format!("element {index}")),
            Error::Index { index, .. } => Self::usage(error.to_string()).at(index.to_string()),
            Error::UnknownSponge { .. } => Self::usage(error.to_string()),
            Error::Device(error) => error.into(),
            _ => failure,
        }
    }
}

/// All of a file, or of standard input if the path is `-`.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(drop),
        false => std::fs::read(path).map(|read| bytes = read),
    };
    match result {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Failure::input(format!("cannot read: {error}")).in_file(path)),
    }
}

/// Bytes as words, eight to one, little-endian.
fn words(bytes: &[u8]) -> Result<Vec<u64>, Failure> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        let have = bytes.len();
        return Err(Failure::input(format!(
            "{have} bytes are no whole number of elements, which have 8"
        ))
        .at(format!("byte {}", have - rest.len())));
    }
    Ok(words.iter().map(|w| u64::from_le_bytes(*w)).collect())
}

/// Bytes as elements; refused with the index of the first that is not canonical.
fn elements(bytes: &[u8]) -> Result<Vec<u64>, Failure> {
    let words = words(bytes)?;
    fieldspar_rpo::check_canonical(&words)?;
    Ok(words)
}

//! In place of the `wgpu` module in a build without that feature: there is no adapter, and asking for one
//! says why.
#![forbid(unsafe_code)]

use crate::{DeviceKind, DeviceSpec, Probe, Unavailable, probe::absent};

const REASON: &str =
    "this build has no wgpu side: fieldspar-device was built without its feature `wgpu`";

/// An adapter, of which there is none.
#[derive(Debug, Clone)]
pub(crate) enum Wgpu {}

impl Wgpu {
    pub(crate) fn open_saying_why(name: Option<&str>) -> Result<(Self, String), Unavailable> {
        let spec = DeviceSpec::Wgpu(name.map(str::to_owned));
        Err(Unavailable::new(spec.to_string(), REASON))
    }

    pub(crate) fn open_automatic() -> Result<Self, String> {
        Err(REASON.to_owned())
    }
}

pub(crate) fn probe() -> Vec<Probe> {
    vec![absent(
        &DeviceSpec::Wgpu(None),
        DeviceKind::Wgpu,
        "",
        "",
        REASON,
    )]
}

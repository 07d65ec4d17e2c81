//! The device that an MSM runs on.
#![forbid(unsafe_code)]

use core::fmt;

use fieldspar_device::{
    CpuSelection, CpuVariant, Device, DeviceInfo, DeviceKind, DeviceSpec, Unavailable,
};

use crate::cuda::CudaEngine;

/// Which code runs on the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Variant {
    /// Plain Rust on 64-bit limbs.
    Portable,
    /// x86-64 with BMI2 and ADX: 64-bit limbs, two carry chains in assembly.
    Adx,
    /// x86-64 with AVX-512 IFMA: eight additions at a time on 52-bit limbs.
    Avx512,
}

impl Variant {
    /// Every variant, slowest first.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Adx, Self::Avx512];

    /// The name used in device specifications (`cpu:adx`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Adx => "adx",
            Self::Avx512 => "avx512",
        }
    }

    /// Why this processor cannot run it; `None` if it can. Once it can, it can for ever.
    #[must_use]
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Self::Portable => None,
            #[cfg(target_arch = "x86_64")]
            Self::Adx => (!crate::cpu::x86_64::adx::Adx::is_available())
                .then_some("this processor does not have BMI2 and ADX"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => (!crate::cpu::x86_64::avx512::Avx512::is_available()
                || Self::Adx.missing().is_some())
            .then_some("this processor does not have AVX-512 F, IFMA and VBMI2, or no ADX"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Adx | Self::Avx512 => Some("this is not an x86-64 processor"),
        }
    }

    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.missing().is_none()
    }

    /// The fastest variant that this processor can run.
    #[must_use]
    pub fn best() -> Self {
        let available = |v: &Self| v.is_available();
        Self::ALL
            .into_iter()
            .rev()
            .find(available)
            .unwrap_or(Self::Portable)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An opened device for MSMs. Holding one means that its code can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    variant: Variant,
    /// The GPU, if it is one.
    cuda: Option<(CudaEngine, DeviceInfo)>,
    why: String,
}

impl Engine {
    /// Opens the device that `spec` names; `auto` is the first NVIDIA GPU, or else, as `cpu`, the fastest
    /// variant that this processor runs.
    ///
    /// ```
    /// use fieldspar_msm::Engine;
    ///
    /// let engine = Engine::open(&"cpu:portable".parse()?)?;
    /// assert_eq!(engine.variant().name(), "portable");
    /// assert!(Engine::open(&"cpu:avx2".parse()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason in words. Nothing else is tried instead.
    pub fn open(spec: &DeviceSpec) -> Result<Self, Unavailable> {
        let refuse = |why: &str| Unavailable::new(spec.to_string(), why);
        let variant = match spec {
            DeviceSpec::Auto | DeviceSpec::Cuda(_) => {
                let kinds = [DeviceKind::Cpu, DeviceKind::Cuda];
                let device = Device::open_for(spec, &kinds)?;
                if let Some(cuda) = device.cuda() {
                    let engine = CudaEngine::new(cuda).map_err(|e| refuse(&e.to_string()))?;
                    return Ok(Self::gpu(engine, device.info()));
                }
                let why = "auto: the fastest variant that this processor runs";
                return Ok(Self::new(Variant::best(), why));
            }
            DeviceSpec::Cpu(CpuSelection::Best) => {
                let why = "the fastest variant that this processor runs";
                return Ok(Self::new(Variant::best(), why));
            }
            DeviceSpec::Cpu(CpuSelection::Adx) => Variant::Adx,
            DeviceSpec::Cpu(CpuSelection::Variant(CpuVariant::Portable)) => Variant::Portable,
            DeviceSpec::Cpu(CpuSelection::Variant(CpuVariant::Avx512)) => Variant::Avx512,
            DeviceSpec::Cpu(_) => {
                let names = Variant::ALL.map(Variant::name).join(", ");
                let why = format!("an MSM has no such CPU variant, only: {names}");
                return Err(refuse(&why));
            }
            _ => {
                let why = "there is no such engine for an MSM, which runs on: cpu, cuda";
                return Err(refuse(why));
            }
        };
        match variant.missing() {
            Some(reason) => Err(refuse(reason)),
            None => Ok(Self::named(variant)),
        }
    }

    fn new(variant: Variant, why: &str) -> Self {
        Self {
            variant,
            cuda: None,
            why: why.to_owned(),
        }
    }

    fn named(variant: Variant) -> Self {
        Self::new(variant, "named")
    }

    fn gpu(engine: CudaEngine, info: &DeviceInfo) -> Self {
        Self {
            variant: Variant::best(),
            cuda: Some((engine, info.clone())),
            why: info.why.clone(),
        }
    }

    /// Every variant that this processor runs, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let available = Variant::ALL.into_iter().filter(|v| v.is_available());
        available.map(Self::named).collect()
    }

    /// The GPU, if it is one.
    #[must_use]
    pub fn cuda(&self) -> Option<&CudaEngine> {
        self.cuda.as_ref().map(|(engine, _)| engine)
    }

    /// The code that runs on the processor: all of it, or beside a GPU the sums of few points.
    #[must_use]
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The specification that gives exactly this device again.
    #[must_use]
    pub fn spec(&self) -> String {
        match &self.cuda {
            Some((engine, _)) => engine.cuda().name().to_owned(),
            None => format!("cpu:{}", self.variant),
        }
    }

    /// What results, logs and `--json` say of it.
    #[must_use]
    pub fn info(&self) -> DeviceInfo {
        match &self.cuda {
            Some((_, info)) => info.clone(),
            None => DeviceInfo::cpu(self.variant.name(), &self.why),
        }
    }

    /// Why it was chosen, in words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec())
    }
}

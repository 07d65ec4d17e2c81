//! The compiled kernels, each compiled when it is first wanted.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Arithmetic, Kernel, Source, Wgpu};

use super::texts::{Entry, Module};

/// The kernels of one engine.
#[derive(Debug)]
pub(super) struct Kernels {
    arithmetic: Arithmetic,
    compiled: Mutex<BTreeMap<Entry, Kernel>>,
}

impl Kernels {
    pub(super) fn new(arithmetic: Arithmetic) -> Self {
        Self {
            arithmetic,
            compiled: Mutex::default(),
        }
    }

    pub(super) const fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// The kernel, compiled at most once.
    pub(super) fn get(
        &self,
        gpu: &Wgpu,
        module: Module,
        name: &'static str,
    ) -> Result<Kernel, Error> {
        let entry = Entry { module, name };
        let compiled = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = compiled().get(&entry) {
            return Ok(kernel.clone());
        }
        let (label, text) = (module.label(), module.text(self.arithmetic));
        let source = Source {
            label: &label,
            text: &text,
        };
        // the device compiles it once, whoever asks
        let kernel = gpu.kernel(&source, name, &entry.access())?;
        compiled().insert(entry, kernel.clone());
        Ok(kernel)
    }
}

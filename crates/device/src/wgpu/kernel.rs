//! Kernels: texts in WGSL, compiled once for a device.
#![forbid(unsafe_code)]

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::context::{Inner, Wgpu};
use super::fault::Fault;
use super::pace::Pace;
use crate::Error;

/// Parameters that a kernel can have, in words, after the one that says where it begins.
pub const MAX_PARAMS: usize = 15;

/// A text in WGSL.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// For messages of the compiler and of debuggers.
    pub label: &'a str,
    /// The module.
    pub text: &'a str,
}

/// How a kernel uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    Write,
    /// `var<uniform>`: at most 64 KiB, constants that all invocations read alike.
    Uniform,
}

/// What makes a kernel: its text and entry point. How it uses its buffers is part of the text.
pub(super) type Key = ([u8; 32], &'static str);

pub(super) struct Compiled {
    pub(super) pipeline: ::wgpu::ComputePipeline,
    pub(super) layout: ::wgpu::BindGroupLayout,
    pub(super) entry: &'static str,
    pub(super) access: Vec<Access>,
    pub(super) pace: Mutex<Pace>,
}

impl Compiled {
    pub(super) fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A compiled kernel of one device.
#[derive(Clone)]
pub struct Kernel {
    pub(super) compiled: Arc<Compiled>,
    pub(super) inner: Arc<Inner>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("entry", &self.compiled.entry)
            .field("access", &self.compiled.access)
            .finish_non_exhaustive()
    }
}

impl Kernel {
    pub(super) fn new(
        gpu: &Wgpu,
        source: &Source<'_>,
        entry: &'static str,
        access: &[Access],
    ) -> Result<Self, Error> {
        let inner = &gpu.0;
        inner.alive(entry)?;
        let most = inner.info.limits.storage_buffers as usize;
        let storage = access.iter().filter(|a| **a != Access::Uniform).count();
        if storage > most {
            let why = format!("{storage} storage buffers, where {most} are allowed");
            return Err(inner.unsupported(entry, why));
        }
        let key = (Sha256::digest(source.text).into(), entry);
        // Held while compiling: two threads that want one kernel compile it once.
        let mut kernels = inner.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = match kernels.get(&key) {
            Some(compiled) => Arc::clone(compiled),
            None => {
                let compiled = Arc::new(compile(inner, source, entry, access)?);
                kernels.insert(key, Arc::clone(&compiled));
                compiled
            }
        };
        Ok(Self {
            compiled,
            inner: Arc::clone(inner),
        })
    }
}

fn compile(
    inner: &Inner,
    source: &Source<'_>,
    entry: &'static str,
    access: &[Access],
) -> Result<Compiled, Error> {
    let shader = |fault| {
        let fault = match fault {
            Fault::Validation(words) | Fault::Internal(words) => Fault::Shader(words),
            other => other,
        };
        inner.failed(entry, fault)
    };
    let device = &inner.device;
    let descriptor = ::wgpu::ShaderModuleDescriptor {
        label: Some(source.label),
        source: ::wgpu::ShaderSource::Wgsl(source.text.into()),
    };
    let module = inner
        .scoped(entry, || device.create_shader_module(descriptor))
        .map_err(shader)?;
    let buffer = |binding: usize, ty| ::wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: ::wgpu::ShaderStages::COMPUTE,
        ty: ::wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let mut entries = vec![buffer(0, ::wgpu::BufferBindingType::Uniform)];
    entries.extend(access.iter().enumerate().map(|(i, access)| {
        let ty = match access {
            Access::Uniform => ::wgpu::BufferBindingType::Uniform,
            Access::Read | Access::Write => ::wgpu::BufferBindingType::Storage {
                read_only: *access == Access::Read,
            },
        };
        buffer(i + 1, ty)
    }));
    let (pipeline, layout) = inner
        .scoped(entry, || {
            let layout = device.create_bind_group_layout(&::wgpu::BindGroupLayoutDescriptor {
                label: Some(entry),
                entries: &entries,
            });
            let whole = device.create_pipeline_layout(&::wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = device.create_compute_pipeline(&::wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&whole),
                module: &module,
                entry_point: Some(entry),
                compilation_options: ::wgpu::PipelineCompilationOptions {
                    // Kernels write workgroup memory before they read it.
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            });
            (pipeline, layout)
        })
        .map_err(shader)?;
    Ok(Compiled {
        pipeline,
        layout,
        entry,
        access: access.to_vec(),
        pace: Mutex::default(),
    })
}

//! The translations, with the options that wgpu has for them.
#![forbid(unsafe_code)]

use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, StorageAccess};

use crate::Result;
use crate::modules::Module;

/// One text in three languages.
pub(crate) struct Translated {
    /// SPIR-V 1.0, as Vulkan takes it.
    pub(crate) spirv: Vec<u32>,
    /// MSL 2.3.
    pub(crate) msl: String,
    /// HLSL, shader model 6.0 with 64-bit integers and 5.1 without.
    pub(crate) hlsl: String,
}

pub(crate) fn translate(module: &Module) -> Result<Translated> {
    let text = &module.text;
    let parsed = naga::front::wgsl::parse_str(text).map_err(|e| e.emit_to_string(text))?;
    let capabilities = if module.has_u64 {
        Capabilities::SHADER_INT64
    } else {
        Capabilities::empty()
    };
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&parsed)
        .map_err(|e| e.emit_to_string(text))?;
    let found: Vec<&str> = parsed
        .entry_points
        .iter()
        .map(|e| e.name.as_str())
        .collect();
    for entry in module.entries {
        if !found.contains(entry) {
            return Err(format!("no entry point `{entry}`").into());
        }
    }

    let spirv = spv::write_vec(&parsed, &info, &spv::Options::default(), None)?;

    let checks = BoundsCheckPolicies {
        index: BoundsCheckPolicy::Restrict,
        buffer: BoundsCheckPolicy::Restrict,
        image_load: BoundsCheckPolicy::Restrict,
        binding_array: BoundsCheckPolicy::Unchecked,
    };
    let options = msl::Options {
        lang_version: (2, 3),
        per_entry_point_map: slots(&parsed),
        fake_missing_bindings: false,
        bounds_check_policies: checks,
        // as the pipelines ask for it
        zero_initialize_workgroup_memory: false,
        ..Default::default()
    };
    let (msl, info_msl) =
        msl::write_string(&parsed, &info, &options, &msl::PipelineOptions::default())?;
    for result in info_msl.entry_point_names {
        result?;
    }

    let options = hlsl::Options {
        shader_model: if module.has_u64 {
            hlsl::ShaderModel::V6_0
        } else {
            hlsl::ShaderModel::V5_1
        },
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions::default();
    let mut hlsl_text = String::new();
    let reflection =
        hlsl::Writer::new(&mut hlsl_text, &options, &pipeline).write(&parsed, &info, None)?;
    for result in reflection.entry_point_names {
        result?;
    }
    Ok(Translated {
        spirv,
        msl,
        hlsl: hlsl_text,
    })
}

/// Where each entry point finds its buffers in Metal: those it uses, by binding, then their sizes.
fn slots(module: &naga::Module) -> msl::EntryPointResourceMap {
    let mut map = msl::EntryPointResourceMap::default();
    for entry in &module.entry_points {
        let mut resources = msl::EntryPointResources::default();
        let mut most = 0;
        for (_, global) in module.global_variables.iter() {
            let Some(binding) = global.binding else {
                continue;
            };
            let is_mutable = match global.space {
                AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                _ => false,
            };
            most = most.max(binding.binding as u8);
            resources.resources.insert(
                binding,
                msl::BindTarget {
                    buffer: Some(binding.binding as u8),
                    mutable: is_mutable,
                    ..Default::default()
                },
            );
        }
        resources.sizes_buffer = Some(most + 1);
        map.insert(entry.name.clone(), resources);
    }
    map
}

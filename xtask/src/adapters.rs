//! A Vulkan driver that runs on the processor, so that the kernels in WGSL are tested without a GPU.
#![forbid(unsafe_code)]

use std::{env, fs, path::Path, process::Command};

use crate::{
    Result,
    context::{Context, run},
    test::Outcome,
};

/// Debian's packages: Mesa's drivers, llvmpipe among them, and the loader.
const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];
/// Where drivers are listed.
const FOLDERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Whether llvmpipe is among the Vulkan drivers of this system.
pub(crate) fn is_installed() -> bool {
    let is_llvmpipe = |name: &str| name.starts_with("lvp_icd") && name.ends_with(".json");
    FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .any(|entry| is_llvmpipe(&entry.file_name().to_string_lossy()))
}

/// Installs it where it lacks. In CI it has to be there in the end.
pub(crate) fn install(context: &Context) -> Result<Outcome> {
    if is_installed() {
        return Ok(Outcome::Passed);
    }
    let outcome = apt(context, &PACKAGES);
    match outcome {
        Ok(()) if is_installed() => Ok(Outcome::Passed),
        _ if env::var_os("CI").is_none() => Ok(Outcome::Skipped(
            "there is no llvmpipe here, and apt-get could not install it",
        )),
        Ok(()) => Err("the packages hold no llvmpipe".into()),
        Err(error) => Err(format!("{} has to be here: {error}", PACKAGES.join(", ")).into()),
    }
}

/// Chromium's package has SwiftShader, another Vulkan driver for the processor.
const SWIFTSHADER: (&str, &str) = ("chromium", "/usr/lib/chromium/vk_swiftshader_icd.json");
/// The layers that watch every call of Vulkan.
const LAYERS: (&str, &str) = (
    "vulkan-validationlayers",
    "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
);
/// Messages of the layers that are known, by what stands in brackets in them, each with its issue at
/// wgpu or Mesa. There is none.
const KNOWN: [&str; 0] = [];

/// Installs llvmpipe, SwiftShader and the validation layers where they lack.
pub(crate) fn install_all(context: &Context) -> Result {
    install(context)?;
    for (package, file) in [SWIFTSHADER, LAYERS] {
        if !Path::new(file).exists() {
            apt(context, &[package])?;
        }
    }
    Ok(())
}

/// Has Vulkan find SwiftShader beside the drivers of the system.
pub(crate) fn add_swiftshader(command: &mut Command) {
    command.env("VK_ADD_DRIVER_FILES", SWIFTSHADER.1);
}

/// Has the validation layers watch, those of synchronisation too, and print what they find.
pub(crate) fn validate(context: &Context, command: &mut Command) -> Result {
    let settings = context.target.join("vk_layer_settings.txt");
    let text = [
        "debug_action = VK_DBG_LAYER_ACTION_LOG_MSG",
        // by `info` they say that they are there
        "report_flags = error,warn,perf,info",
        "enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
    ];
    let text = text
        .map(|line| format!("khronos_validation.{line}\n"))
        .concat();
    fs::write(&settings, text)?;
    command
        .env("VK_LAYER_SETTINGS_PATH", settings)
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    Ok(())
}

/// Whether the layers were there in a run that printed this.
pub(crate) fn was_validated(printed: &str) -> bool {
    printed.contains("Khronos Validation Layer Active")
}

/// How many messages of the layers are in what a run printed, but for the known ones and for those that
/// only inform.
pub(crate) fn messages(printed: &str) -> u64 {
    let kinds = [
        "Validation Error: [",
        "Validation Warning: [",
        "Validation Performance Warning: [",
    ];
    let lines = printed
        .lines()
        .filter(|line| kinds.iter().any(|kind| line.contains(kind)))
        .filter(|line| !KNOWN.iter().any(|known| line.contains(known)));
    lines.count() as u64
}

/// Installs Debian's packages.
pub(crate) fn apt(context: &Context, packages: &[&str]) -> Result {
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err("this system has no apt-get".into());
    }
    let apt = |args: &[&str]| {
        let mut command = context.command("apt-get");
        run(command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
    };
    let install = [&["install", "-y", "--no-install-recommends"], packages].concat();
    // The lists of a fresh machine are empty or old.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_and_information_is_not() {
        let printed = "running 2 tests\n\
            UNASSIGNED-khronos(INFO / SPEC): - Validation Information: [ UNASSIGNED ] Object 0 | Khronos Validation Layer Active:\n\
            VUID-vkX(ERROR / SPEC): msgNum: 1 - Validation Error: [ VUID-vkX ] Object 0\n\
            UNASSIGNED-Y(WARN / PERF): - Validation Performance Warning: [ UNASSIGNED-Y ]\n";
        assert!(was_validated(printed));
        assert_eq!(messages(printed), 2);
        assert_eq!(messages("test result: ok."), 0);
    }
}

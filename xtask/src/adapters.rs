//! A Vulkan driver that runs on the processor, so that the kernels in WGSL are tested without a GPU.
#![forbid(unsafe_code)]

use std::{env, fs, path::Path};

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

/// Installs Debian's packages.
pub(crate) fn apt(context: &Context, packages: &[&str]) -> Result {
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err("this system has no apt-get".into());
    }
    let apt = |args: &[&str]| {
        let mut command = context.command("apt-get");
        run(command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
    };
    let install = [&["install", "-y", "--no-install-recommends"][..], packages].concat();
    // The lists of a fresh machine are empty or old.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}

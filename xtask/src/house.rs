//! The rules of the house that no compiler checks: which crate may depend on which, where unsafe code
//! may stand, and that the documents speak of things that exist.
#![forbid(unsafe_code)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    Result,
    context::{Context, PROFILE, output, run},
};

/// The capabilities; none may depend on another, save for the pairs in [`MAY`].
const CAPABILITIES: [&str; 5] = [
    "fieldspar-whir",
    "fieldspar-msm",
    "fieldspar-rpo",
    "fieldspar-ceremony",
    "fieldspar-fpga",
];

/// Dependencies between capabilities that are meant.
const MAY: [(&str, &str); 1] = [("fieldspar-fpga", "fieldspar-msm")];

/// Modules (parts of a path) where `unsafe` may stand: the instruction sets, the columns that tasks
/// write side by side, the advice to the kernel about pages, the calls of NVIDIA's driver, those
/// of its compiler, those of the kernels' arithmetic compiled for the host, and those of Verilated
/// designs.
const UNSAFE: [&str; 8] = [
    "/cpu/x86_64/",
    "/cpu/aarch64/",
    "/cpu/strided.rs",
    "/cpu/pages.rs",
    "/kernels/nvrtc.rs",
    "/tests/kernels/library.rs",
    "/rtl/library.rs",
    "/cuda/",
];

/// The documents whose commands and links are checked.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "SECURITY.md"];

/// Arrows run one way: cli to capabilities to device.
pub(crate) fn layers(context: &Context) -> Result {
    let metadata =
        output(
            context
                .cargo()
                .args(["metadata", "--format-version=1", "--no-deps", "--locked"]),
        )?;
    let wrong = wrong_arrows(&arrows(&serde_json::from_str(&metadata)?)?);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

/// Which member depends on which: normal, build and dev dependencies alike.
fn arrows(metadata: &Value) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    let name = |v: &Value| v["name"].as_str().unwrap_or_default().to_owned();
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let mut arrows = BTreeMap::new();
    for package in packages {
        let dependencies = package["dependencies"].as_array();
        let inside = dependencies
            .into_iter()
            .flatten()
            .map(name)
            .filter(|d| members.contains(d))
            .collect();
        arrows.insert(name(package), inside);
    }
    Ok(arrows)
}

fn wrong_arrows(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, targets) in arrows {
        let capability = CAPABILITIES.contains(&from.as_str());
        for to in targets {
            let why = if from == "fieldspar-device" {
                "the device layer knows no other member"
            } else if from == "xtask" {
                "xtask stands outside: a broken crate must not stop the checks from starting"
            } else if to == "fieldspar" || to == "xtask" {
                "nothing depends on a front end"
            } else if capability
                && CAPABILITIES.contains(&to.as_str())
                && !MAY.contains(&(from, to))
            {
                "who wants one capability compiles one"
            } else {
                continue;
            };
            wrong.push(format!("{from} depends on {to}: {why}"));
        }
    }
    if !arrows.contains_key("fieldspar-device") {
        wrong.push("fieldspar-device is no member: the rule has lost its object".into());
    }
    wrong
}

/// No module outside the instruction-set folders lifts the ban on unsafe code, and every crate root
/// has it.
pub(crate) fn unsafe_code(context: &Context) -> Result {
    let mut wrong = Vec::new();
    let mut roots = 0;
    for path in sources(&context.root)? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(&context.root).unwrap_or(&path);
        let slashed = format!("/{}", shown.to_string_lossy().replace('\\', "/"));
        let ban = |word: &str| {
            text.lines()
                .any(|l| l.trim() == format!("#![{word}(unsafe_code)]"))
        };
        if slashed.ends_with("/src/lib.rs") || slashed.ends_with("/src/main.rs") {
            roots += 1;
            if !ban("forbid") && !ban("deny") {
                wrong.push(format!(
                    "{} neither forbids nor denies unsafe code",
                    shown.display()
                ));
            }
        }
        let lifted = text.lines().any(|l| {
            l.trim_start().starts_with("#") && l.contains(concat!("allow(unsafe", "_code)"))
        });
        if lifted && !UNSAFE.iter().any(|part| slashed.contains(part)) {
            wrong.push(format!("{} allows unsafe code", shown.display()));
        }
    }
    if roots == 0 {
        wrong.push("no crate root was found".into());
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

/// The Rust files of the members.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|n| n != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Commands in the documents' code exist, and so do the files they link to.
pub(crate) fn documents(context: &Context) -> Result {
    let mut wrong = Vec::new();
    let mut verbs = BTreeSet::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(context.root.join(document))
            .map_err(|e| format!("{document}: {e}"))?;
        for link in links(&text) {
            if !context.root.join(&link).exists() {
                wrong.push(format!("{document} links to {link}, which is not there"));
            }
        }
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["cargo", "xtask", chore, ..] => {
                    let known = crate::subcommands().iter().any(|c| c == chore);
                    wrong.extend(
                        (!known).then(|| format!("{document}: `{command}`: no such chore")),
                    );
                }
                ["cargo", "run", "--release", "--", verb @ ..] | ["fieldspar", verb @ ..] => {
                    let verb = verb
                        .iter()
                        .take_while(|w| is_verb(w))
                        .map(|w| (*w).to_owned());
                    verbs.insert((document, command.clone(), verb.collect::<Vec<_>>()));
                }
                _ => {}
            }
        }
    }
    run(context.cargo().args([
        "build",
        "--locked",
        "--profile",
        PROFILE,
        "--package",
        "fieldspar",
    ]))?;
    let binary = context.built("fieldspar");
    for (document, command, verb) in verbs {
        let help = output(context.command(&binary).args(&verb).arg("--help"));
        // The full name stands in clap's usage line, so that an unknown verb cannot pass for help.
        let usage = format!("fieldspar {}", verb.join(" "));
        if !help.is_ok_and(|h| h.contains(usage.trim_end())) {
            wrong.push(format!("{document}: `{command}`: no such verb"));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

fn is_verb(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
}

/// Lines of `sh` blocks, and inline code; comments and prompts taken off.
fn commands(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence = None;
    for line in markdown.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(language.trim()),
                Some(_) => None,
            };
        } else if fence == Some("sh") {
            let line = line.split(" #").next().unwrap_or_default();
            found.push(line.trim().trim_start_matches("$ ").to_owned());
        } else if fence.is_none() {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// Relative targets of `[text](target)`.
fn links(markdown: &str) -> Vec<String> {
    markdown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check(arrows: &[(&str, &[&str])]) -> Vec<String> {
        let map = arrows
            .iter()
            .map(|(from, to)| {
                let to = to.iter().map(|t| (*t).to_owned()).collect();
                ((*from).to_owned(), to)
            })
            .collect();
        wrong_arrows(&map)
    }

    #[test]
    fn the_house_as_drawn_is_fine() {
        let wrong = check(&[
            ("fieldspar-device", &[]),
            ("fieldspar-whir", &["fieldspar-device"]),
            ("fieldspar-msm", &["fieldspar-device"]),
            ("fieldspar-fpga", &["fieldspar-msm", "fieldspar-device"]),
            ("fieldspar", &["fieldspar-whir", "fieldspar-fpga"]),
            ("xtask", &[]),
        ]);
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn each_wrong_arrow_is_found() {
        let device = ("fieldspar-device", &[] as &[&str]);
        for (from, to) in [
            ("fieldspar-whir", "fieldspar-rpo"),
            ("fieldspar-msm", "fieldspar-fpga"),
            ("fieldspar-whir", "fieldspar"),
            ("xtask", "fieldspar-device"),
        ] {
            let wrong = check(&[device, (from, &[to])]);
            assert_eq!(wrong.len(), 1, "{from} -> {to}: {wrong:?}");
        }
        assert_eq!(check(&[("fieldspar-device", &["fieldspar-whir"])]).len(), 1);
        assert_eq!(check(&[("fieldspar-whir", &[])]).len(), 1);
    }

    #[test]
    fn dev_dependencies_count() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "dependencies": [{ "name": "b", "kind": "dev" }, { "name": "serde" }] },
            { "name": "b", "dependencies": [] },
        ]});
        let arrows = arrows(&metadata).unwrap();
        assert_eq!(arrows["a"].iter().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn commands_and_links_are_found() {
        let text = "Run `cargo xtask test`, see [it](docs/x.md#top), [web](https://a.b).\n\
                    ```sh\n$ cargo run --release -- whir demo  # proves\n```\n\
                    ```\nfieldspar is drawn here\n```\n";
        assert_eq!(
            commands(text),
            ["cargo xtask test", "cargo run --release -- whir demo"]
        );
        assert_eq!(links(text), ["docs/x.md"]);
    }
}

//! The manual page and the completions, both from the command line's own definition.
#![forbid(unsafe_code)]

use clap::Command;
use clap_mangen::Man;
use serde_json::json;

use crate::context::Outcome;
use crate::failure::Failure;
use crate::json::fields;

fn outcome(bytes: Vec<u8>) -> Result<Outcome, Failure> {
    let text = String::from_utf8(bytes).map_err(|e| Failure::internal(e.to_string()))?;
    let fields = fields(json!({"text": text}));
    Ok(Outcome::new(text, fields))
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Outcome, Failure> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut crate::command_line(), "fieldspar", &mut out);
    outcome(out)
}

/// One page: the program, then a subsection for each verb.
pub(crate) fn page() -> Result<Outcome, Failure> {
    let mut command = crate::command_line();
    command.build();
    let mut out = Vec::new();
    let failed = |e: std::io::Error| Failure::internal(e.to_string());
    Man::new(command.clone()).render(&mut out).map_err(failed)?;
    // clap_mangen points at a page for each verb; here all stand on this one.
    let mut page = String::from_utf8_lossy(&out).into_owned();
    for verb in command.get_subcommands() {
        let name = verb.get_name();
        let there = format!("fieldspar\\-{}(1)", name.replace('-', "\\-"));
        page = page.replace(&there, &format!("fieldspar {name}"));
    }
    let mut out = page.into_bytes();
    for verb in leaves(&command) {
        let name = verb.get_bin_name().unwrap_or(verb.get_name()).to_owned();
        // What holds everywhere stands in the first part already.
        let verb = verb.mut_args(|arg| {
            let everywhere = arg.is_global_set();
            arg.hide(everywhere)
        });
        let man = Man::new(verb);
        let mut part = Vec::new();
        man.render_description_section(&mut part).map_err(failed)?;
        man.render_synopsis_section(&mut part).map_err(failed)?;
        man.render_options_section(&mut part).map_err(failed)?;
        let part = String::from_utf8_lossy(&part).replace("\n.SH ", "\n.SS ");
        let part = part
            .strip_prefix(".SH ")
            .map_or(part.clone(), |p| format!(".SS {p}"));
        out.extend(format!(".SH \"{}\"\n{part}", name.to_uppercase()).into_bytes());
    }
    outcome(out)
}

fn leaves(command: &Command) -> Vec<Command> {
    command
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .flat_map(|c| {
            if c.has_subcommands() {
                leaves(c)
            } else {
                vec![c.clone()]
            }
        })
        .collect()
}

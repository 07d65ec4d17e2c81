//! `fieldspar-export-check DIR`: exit 0 if the exported proof holds, 1 if not.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: fieldspar-export-check DIR");
        return ExitCode::from(2);
    };
    match fieldspar_export_check::check(folder.as_ref()) {
        Ok(()) => {
            println!("valid");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("refused: {reason}");
            ExitCode::FAILURE
        }
    }
}

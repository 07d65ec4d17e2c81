//! The workspace's chores: what CI runs, the long tests, the rivals of the benchmarks.
#![deny(unsafe_code)]

mod aarch64;
mod adapters;
mod context;
mod deny;
mod facts;
mod fuzz;
mod house;
mod kernels;
mod record;
mod rivals;
mod rtl;
mod shaders;
mod soak;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An error with its message; a chore has nobody to match on its kind.
pub(crate) type Error = Box<dyn std::error::Error>;
/// Result of a chore.
pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// Chores of the Fieldspar workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything that CI runs, or only the named legs.
    Test(test::Args),
    /// Run the long tests at their full counts and keep the result in bench/record/.
    Soak(soak::Args),
    /// Build the programs that `bench --vs` measures against.
    Rivals(rivals::Args),
    /// Compile the CUDA kernels into the archives that the crates embed.
    Kernels(kernels::Args),
    /// Translate the WGSL kernels as wgpu does for Vulkan, Metal and DX12, and pin the results.
    Shaders(shaders::Args),
    /// Build the simulated accelerator with Verilator, or check it.
    Rtl(rtl::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test(args) => test::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Rivals(args) => rivals::run(&args),
        Command::Kernels(args) => kernels::run(&args),
        Command::Shaders(args) => shaders::run(&args),
        Command::Rtl(args) => rtl::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The names of the subcommands, for the check of the documents.
pub(crate) fn subcommands() -> Vec<String> {
    use clap::CommandFactory;
    let command = Cli::command();
    command
        .get_subcommands()
        .map(|c| c.get_name().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
        assert_eq!(
            super::subcommands(),
            ["test", "soak", "rivals", "kernels", "shaders", "rtl"]
        );
    }
}

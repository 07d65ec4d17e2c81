//! The workspace chores.
fn main() {}

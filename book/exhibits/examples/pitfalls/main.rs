//! Programs that report success although they are wrong, beside what our tools report.
//!
//! `cargo run -p exhibits --example pitfalls wrong_operand`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

mod early_return;
mod even_tiles;
mod failed_launch;
mod first_tile_only;
mod left_over;
mod loose_tolerance;
mod lucky_race;
mod nan_passes;
mod not_waited;
mod only_multiples;
mod swapped_result;
mod tuned_later;
mod whole_strip;
mod wrong_bound;
mod wrong_operand;

use std::error::Error;

type Show = fn() -> Result<(), Box<dyn Error>>;

/// Returns functions `show` of modules, with the names of these.
macro_rules! named {
    ($($module:ident),*) => { [$((stringify!($module), $module::show)),*] };
}

#[rustfmt::skip]
const PITFALLS: [(&str, Show); 15] = named!(
    early_return, even_tiles, failed_launch, first_tile_only, left_over, loose_tolerance, lucky_race, nan_passes,
    not_waited, only_multiples, swapped_result, tuned_later, whole_strip, wrong_bound, wrong_operand
);

fn main() -> Result<(), Box<dyn Error>> {
    let (_, show) = exhibits::chosen(&PITFALLS, |(name, _)| name)?;
    show()
}

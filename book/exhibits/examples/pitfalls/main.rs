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

const PITFALLS: [(&str, Show); 15] = [
    ("early_return", early_return::show),
    ("even_tiles", even_tiles::show),
    ("failed_launch", failed_launch::show),
    ("first_tile_only", first_tile_only::show),
    ("left_over", left_over::show),
    ("loose_tolerance", loose_tolerance::show),
    ("lucky_race", lucky_race::show),
    ("nan_passes", nan_passes::show),
    ("not_waited", not_waited::show),
    ("only_multiples", only_multiples::show),
    ("swapped_result", swapped_result::show),
    ("tuned_later", tuned_later::show),
    ("whole_strip", whole_strip::show),
    ("wrong_bound", wrong_bound::show),
    ("wrong_operand", wrong_operand::show),
];

fn main() -> Result<(), Box<dyn Error>> {
    let (_, show) = exhibits::chosen(&PITFALLS, |(name, _)| name)?;
    show()
}

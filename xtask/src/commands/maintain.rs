//! The commands that keep the repository whole: generated files, the book, rules.

mod book;
mod fixtures;
pub(crate) mod packed;
mod page;
mod ptx;
pub(crate) mod readme;
mod setup;
mod solutions;
mod starters;
mod tidy;
pub(crate) mod wheel;

commands! {
    /// Build the book, check it, or keep it up to date while you write
    Book(book::Args) => book::run,
    /// Download the compiler NVRTC 12.4 into target/nvrtc
    Setup(setup::Args) => setup::run,
    /// Build the modules with which pages of the book run kernels into target/page
    Page(page::Args) => page::run,
    /// Compile CUDA sources to the PTX committed beside them
    Ptx(ptx::Args) => ptx::run,
    /// Write the starters of all tasks
    Starters(starters::Args) => starters::run,
    /// Compile the task solutions that the tests judge
    Solutions(solutions::Args) => solutions::run,
    /// Compile the kernels in tests/fixtures, or show one
    Fixtures(fixtures::Args) => fixtures::run,
    /// Check the rules of the repository
    Tidy(tidy::Args) => tidy::run,
    /// Update the generated parts of the documents
    Readme(readme::Args) => readme::run,
}

//! Tests bookbuild on small books: the directives that it fills in, and every error.

mod books;
mod browser;
mod check;
mod directives;
mod errors;
mod program;
mod tasks;

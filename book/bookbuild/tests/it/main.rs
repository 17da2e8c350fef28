//! Tests bookbuild on small books: the directives that it fills in, and every error.

mod books;
mod browses;
mod fills;
mod looks;
mod refuses;
mod serves;
mod tasks;

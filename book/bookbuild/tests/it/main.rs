//! Bookbuild on small books: what it fills in, and everything that it refuses.

mod books;
mod browses;
mod fills;
mod looks;
mod refuses;
mod serves;
mod tasks;

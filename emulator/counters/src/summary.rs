//! What declares the numbers that a reader looks at line by line: [`Summary`] and its columns.

#[cfg(test)]
mod tests;

use super::{Column, Summary, WARP};

/// Declares [`Summary`] and [`Column`]: a field and a column for each row.
macro_rules! summary {
    ($($(#[doc = $doc:literal])* $field:ident = $of:expr => $column:ident($heading:literal, $words:literal);)+) => {
        /// Counts of a source line, or of a launch, as `explain` and the book show them.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Summary {
            $($(#[doc = $doc])* pub $field: u64,)+
        }

        impl std::ops::AddAssign for Summary {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        impl From<&Counters> for Summary {
            fn from(counters: &Counters) -> Self {
                let of = |get: fn(&Counters) -> u64| get(counters);
                Self { $($field: of($of),)+ }
            }
        }

        /// A column of an explanation: one for each field of [`Summary`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Column {
            $(#[doc = concat!("Column `", $heading, "`: ", $words, ".")] $column,)+
        }

        impl Column {
            /// All of them, in the order of a table.
            pub const ALL: &[Self] = &[$(Self::$column),+];

            pub fn heading(self) -> &'static str {
                match self { $(Self::$column => $heading,)+ }
            }

            /// Names the counted thing.
            pub fn words(self) -> &'static str {
                match self { $(Self::$column => $words,)+ }
            }

            fn count(self, summary: &Summary) -> u64 {
                match self { $(Self::$column => summary.$field,)+ }
            }
        }
    };
}

impl Column {
    /// Returns the value; `None` for a share of zero.
    pub fn of(self, summary: &Summary) -> Option<f64> {
        let count = self.count(summary) as f64;
        match self {
            Self::Lanes => (summary.instructions > 0).then(|| count / summary.instructions as f64),
            Self::MultiplyAdds => Some(count / WARP),
            _ => Some(count),
        }
    }

    /// Returns whether the values of lines add up to that of the launch.
    pub fn adds_up(self) -> bool {
        self != Self::Lanes
    }
}

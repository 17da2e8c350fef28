//! Names that operands and initial values mention.

use crate::ast::{Initializer, Operand};

/// Defines visits of names; with `mut`, of names to change.
macro_rules! names {
    ($visit:ident $(, $mut:tt)?) => {
        impl Operand {
            /// Calls `f` for each name, those of registers included.
            pub fn $visit<'a>(&'a $($mut)? self, f: &mut dyn FnMut(&'a $($mut)? String)) {
                match self {
                    Self::Name(name) | Self::NotPred(name) | Self::NameOffset { name, .. } => f(name),
                    Self::Address { base: Some(name), .. } | Self::Component(name, _) => f(name),
                    Self::Vector(list) | Self::List(list) => list.into_iter().for_each(|o| o.$visit(f)),
                    Self::Pair(a, b) => {
                        a.$visit(f);
                        b.$visit(f);
                    }
                    Self::Texture { handles, coordinates } => {
                        handles.into_iter().chain(coordinates).for_each(|o| o.$visit(f));
                    }
                    Self::Address { base: None, .. } | Self::Immediate(_) => {}
                }
            }
        }

        impl Initializer {
            /// Calls `f` for the name of each variable and function whose address is in it.
            pub fn $visit<'a>(&'a $($mut)? self, f: &mut dyn FnMut(&'a $($mut)? String)) {
                match self {
                    Self::List(list) => list.into_iter().for_each(|init| init.$visit(f)),
                    Self::Symbol { name, .. } => f(name),
                    Self::Int(_) | Self::Float(_) | Self::Other(_) => {}
                }
            }
        }
    };
}
names!(for_each_name);
names!(for_each_name_mut, mut);

//! Folding when a value is made: constants, and simpler equal values.

use super::{Arith, Class, Compare, Graph, Num, Op, Value};

/// Returns the value of an operation, if it need not be computed.
pub(crate) fn simplify(graph: &mut Graph, op: Op, class: Class, args: &[Value]) -> Option<Value> {
    let constants: Option<Vec<u64>> = args.iter().map(|&arg| graph.constant_of(arg)).collect();
    if let Some(constants) = constants
        && !args.is_empty()
    {
        let of = graph.class(args[0]);
        if let Some(bits) = evaluate(op, class, of, &constants) {
            return Some(graph.bits(class, bits));
        }
    }
    match (op, args) {
        (Op::Arith(arith, is_signed), &[a, b]) => simplify_arith(graph, arith, is_signed, class, a, b),
        (Op::Select, &[condition, a, b]) => match graph.constant_of(condition) {
            Some(0) => Some(b),
            Some(_) => Some(a),
            None if a == b => Some(a),
            None if class == Class::Pred => match (graph.constant_of(a), graph.constant_of(b)) {
                (Some(1), Some(0)) => Some(condition),
                (Some(0), Some(1)) => Some(graph.make(Op::Not, class, &[condition])),
                (Some(1), _) => Some(graph.make(Op::Arith(Arith::Or, false), class, &[condition, b])),
                (_, Some(0)) => Some(graph.make(Op::Arith(Arith::And, false), class, &[condition, a])),
                _ => {
                    let other = graph.make(Op::Not, class, &[condition]);
                    let left = graph.make(Op::Arith(Arith::And, false), class, &[condition, a]);
                    let right = graph.make(Op::Arith(Arith::And, false), class, &[other, b]);
                    Some(graph.make(Op::Arith(Arith::Or, false), class, &[left, right]))
                }
            },
            None => None,
        },
        (Op::Compare(compare, is_signed), &[a, b]) => simplify_compare(graph, compare, is_signed, a, b),
        (Op::Not, &[a]) => {
            let found = graph.at(a).clone();
            match found.op {
                Op::Not => Some(found.args[0]),
                // Comparisons of floats with NaN have no opposite.
                Op::Compare(compare, is_signed) if !matches!(graph.class(found.args[0]), Class::F32 | Class::F64) => {
                    Some(graph.make(Op::Compare(opposite(compare), is_signed), class, &found.args))
                }
                _ => None,
            }
        }
        (Op::Neg, &[a]) if graph.op(a) == Op::Neg => Some(graph.at(a).args[0]),
        (Op::Bits, &[a]) if graph.class(a) == class => Some(a),
        (Op::Bits, &[a]) if graph.op(a) == Op::Bits => {
            let inner = graph.at(a).args[0];
            Some(graph.make(Op::Bits, class, &[inner]))
        }
        (Op::Convert(Num::S32, Num::S64), &[a]) if has_constant(graph, a, 0) => {
            Some(widened(graph, a, &mut { MAX_WIDENED }))
        }
        // A conversion back to a part that the wide value was made of.
        (Op::Convert(Num::S64 | Num::U64, Num::S32 | Num::U32), &[a]) => match graph.op(a) {
            Op::Convert(Num::S32 | Num::U32, Num::S64 | Num::U64) => Some(graph.at(a).args[0]),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn opposite(compare: Compare) -> Compare {
    match compare {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Ge,
        Compare::Le => Compare::Gt,
        Compare::Gt => Compare::Le,
        Compare::Ge => Compare::Lt,
    }
}

fn simplify_compare(graph: &mut Graph, compare: Compare, is_signed: bool, a: Value, b: Value) -> Option<Value> {
    let class = graph.class(a);
    if graph.constant_of(a).is_some() && graph.constant_of(b).is_none() {
        let mirrored = match compare {
            Compare::Lt => Compare::Gt,
            Compare::Le => Compare::Ge,
            Compare::Gt => Compare::Lt,
            Compare::Ge => Compare::Le,
            same => same,
        };
        return Some(graph.make(Op::Compare(mirrored, is_signed), Class::Pred, &[b, a]));
    }
    if a == b && !matches!(class, Class::F32 | Class::F64) {
        let holds = matches!(compare, Compare::Eq | Compare::Le | Compare::Ge);
        return Some(graph.bits(Class::Pred, u64::from(holds)));
    }
    // `bool != 0` and `bool == 0`, also where the bool was made an int.
    let zero = graph.constant_of(b) == Some(0);
    let as_bool = match graph.op(a) {
        Op::Convert(Num::Bool, _) => Some(graph.at(a).args[0]),
        _ if class == Class::Pred => Some(a),
        _ => None,
    };
    if let (true, Some(condition)) = (zero, as_bool) {
        match compare {
            Compare::Ne => return Some(condition),
            Compare::Eq => return Some(graph.make(Op::Not, Class::Pred, &[condition])),
            _ => {}
        }
    }
    if class == Class::Pred {
        let exclusive = graph.make(Op::Arith(Arith::Xor, false), Class::Pred, &[a, b]);
        return match compare {
            Compare::Ne => Some(exclusive),
            Compare::Eq => Some(graph.make(Op::Not, Class::Pred, &[exclusive])),
            _ => None,
        };
    }
    if let (true, Some(0), Compare::Lt) = (!is_signed, graph.constant_of(b), compare)
        && matches!(class, Class::I32 | Class::I64)
    {
        return Some(graph.bits(Class::Pred, 0));
    }
    None
}

fn simplify_arith(graph: &mut Graph, arith: Arith, is_signed: bool, class: Class, a: Value, b: Value) -> Option<Value> {
    use Arith::{Add, And, Div, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
    let op = Op::Arith(arith, is_signed);
    let is_commutative = matches!(arith, Add | Mul | And | Or | Xor | Min | Max);
    let is_float = matches!(class, Class::F32 | Class::F64);
    if is_commutative && graph.constant_of(a).is_some() && graph.constant_of(b).is_none() {
        // Of floats, the flag remembers where the constant stood.
        let op = Op::Arith(arith, is_signed || is_float && arith == Mul);
        return Some(graph.make(op, class, &[b, a]));
    }
    if is_float {
        if let (Div, Some(inverse)) = (arith, graph.constant_of(b).and_then(|bits| exact_inverse(class, bits))) {
            let inverse = graph.bits(class, inverse);
            return Some(graph.make(Op::Arith(Mul, true), class, &[a, inverse]));
        }
        let one = if class == Class::F32 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
        // -x + y is y - x, and x - -y is x + y.
        match (arith, graph.op(a), graph.op(b)) {
            (Add, Op::Neg, _) => {
                let inner = graph.at(a).args[0];
                return Some(graph.make(Op::Arith(Sub, is_signed), class, &[b, inner]));
            }
            (Add | Sub, _, Op::Neg) => {
                let inner = graph.at(b).args[0];
                let other = if arith == Add { Sub } else { Add };
                return Some(graph.make(Op::Arith(other, is_signed), class, &[a, inner]));
            }
            (Sub, _, Op::Const(bits)) if bits != 0 => {
                let negative = graph.bits(class, bits ^ sign_bit(class));
                return Some(graph.make(Op::Arith(Add, is_signed), class, &[a, negative]));
            }
            _ => {}
        }
        return match (arith, graph.constant_of(b)) {
            (Mul | Div, Some(bits)) if bits == one => Some(a),
            (Sub, Some(0)) => Some(a),
            // x + -0
            (Add, Some(bits)) if bits.count_ones() == 1 && bits == sign_bit(class) => Some(a),
            _ => None,
        };
    }
    let all_ones = match class {
        Class::Pred => 1,
        Class::I32 => u64::from(u32::MAX),
        _ => u64::MAX,
    };
    if let Some(c) = graph.constant_of(b) {
        let zero = |graph: &mut Graph| Some(graph.bits(class, 0));
        match (arith, c) {
            (Add | Sub | Or | Xor | Shl | Shr, 0) | (Mul | Div, 1) => return Some(a),
            (Mul | And, 0) | (Rem, 1) => return zero(graph),
            (And, _) if c == all_ones => return Some(a),
            (Or, _) if c == all_ones => return Some(b),
            (Xor, _) if class == Class::Pred => return Some(graph.make(Op::Not, class, &[a])),
            (Div, _) if !is_signed && c.is_power_of_two() => {
                let shift = graph.int(Class::I32, i64::from(c.trailing_zeros()));
                return Some(graph.make(Op::Arith(Shr, false), class, &[a, shift]));
            }
            (Rem, _) if !is_signed && c.is_power_of_two() => {
                let mask = graph.bits(class, c - 1);
                return Some(graph.make(Op::Arith(And, false), class, &[a, mask]));
            }
            (Shl, _) if c < 31 => {
                let factor = graph.int(class, 1 << c);
                return Some(graph.make(Op::Arith(Mul, false), class, &[a, factor]));
            }
            (Sub, _) => {
                let signed = graph.signed(b)?;
                if signed != i64::from(i32::MIN) && signed != i64::MIN {
                    let negative = graph.int(class, -signed);
                    return Some(graph.make(Op::Arith(Add, is_signed), class, &[a, negative]));
                }
            }
            _ => {}
        }
    }
    if a == b {
        match arith {
            Sub | Xor => return Some(graph.bits(class, 0)),
            And | Or | Min | Max => return Some(a),
            _ => {}
        }
    }
    let inner = graph.at(a).clone();
    match arith {
        Add => {
            // (x + c) + d
            if let (Op::Arith(Add, inner_signed), Some(d)) = (inner.op, graph.signed(b))
                && let Some(c) = graph.signed(inner.args[1])
            {
                let sum = c.wrapping_add(d);
                let fits = class == Class::I64 || i32::try_from(sum).is_ok();
                let sum = graph.int(class, sum);
                let op = Op::Arith(Add, is_signed && inner_signed && fits);
                return Some(graph.make(op, class, &[inner.args[0], sum]));
            }
            if class == Class::I64 && graph.constant_of(b).is_none() {
                // Constants are added last: neighbours then have the same base.
                let (left, c) = graph.split(a);
                let (right, d) = graph.split(b);
                if c != 0 || d != 0 {
                    let base = graph.make(op, class, &[left, right]);
                    let offset = graph.int(class, c.wrapping_add(d));
                    return Some(graph.make(op, class, &[base, offset]));
                }
            }
        }
        Mul => {
            if let Some(factor) = graph.signed(b) {
                let (rest, c) = graph.split(a);
                if class == Class::I64 && c != 0 {
                    let product = graph.make(op, class, &[rest, b]);
                    let offset = graph.int(class, c.wrapping_mul(factor));
                    return Some(graph.make(Op::Arith(Add, false), class, &[product, offset]));
                }
                if let Op::Arith(Mul, inner_signed) = inner.op
                    && let Some(c) = graph.signed(inner.args[1])
                {
                    let product = c.wrapping_mul(factor);
                    let fits = class == Class::I64 || i32::try_from(product).is_ok();
                    let op = Op::Arith(Mul, is_signed && inner_signed && fits);
                    let product = graph.int(class, product);
                    return Some(graph.make(op, class, &[inner.args[0], product]));
                }
            }
        }
        _ => {}
    }
    None
}

/// Returns 1 / x for a power of two.
fn exact_inverse(class: Class, bits: u64) -> Option<u64> {
    if class == Class::F32 {
        let inverse = 1.0 / f32::from_bits(bits as u32);
        (bits << 9 & 0xFFFF_FFFF == 0 && inverse.is_normal()).then(|| u64::from(inverse.to_bits()))
    } else {
        let inverse = 1.0 / f64::from_bits(bits);
        (bits << 12 == 0 && inverse.is_normal()).then(|| inverse.to_bits())
    }
}

fn sign_bit(class: Class) -> u64 {
    if class == Class::F32 { 1 << 31 } else { 1 << 63 }
}

/// Returns whether a sum that cannot overflow adds a constant somewhere.
fn has_constant(graph: &Graph, value: Value, depth: u32) -> bool {
    let found = graph.at(value);
    match (found.op, &found.args[..]) {
        _ if depth > 8 => false,
        (Op::Arith(Arith::Add, true), &[a, b]) => {
            graph.constant_of(b).is_some() || has_constant(graph, a, depth + 1) || has_constant(graph, b, depth + 1)
        }
        (Op::Arith(Arith::Mul, true), &[a, b]) => graph.constant_of(b).is_some() && has_constant(graph, a, depth + 1),
        _ => false,
    }
}

/// Parts of a sum that are extended one by one. A value may be part of it many times.
const MAX_WIDENED: usize = 64;

/// Extends a sum part by part: no part overflows.
fn widened(graph: &mut Graph, value: Value, left: &mut usize) -> Value {
    let found = graph.at(value).clone();
    *left = left.saturating_sub(1);
    match (found.op, &found.args[..]) {
        (Op::Arith(arith @ (Arith::Add | Arith::Mul), true), &[a, b]) if *left > 0 && has_constant(graph, value, 0) => {
            let (a, b) = (widened(graph, a, left), widened(graph, b, left));
            graph.make(Op::Arith(arith, true), Class::I64, &[a, b])
        }
        _ if *left == 0 => graph.number(Op::Convert(Num::S32, Num::S64), Class::I64, vec![value]),
        _ => graph.make(Op::Convert(Num::S32, Num::S64), Class::I64, &[value]),
    }
}

/// Computes an operation on constants, the first of which is of class `of`.
pub(crate) fn evaluate(op: Op, class: Class, of: Class, args: &[u64]) -> Option<u64> {
    let n_bits = if of == Class::I32 { 32 } else { 64 };
    let int = |at: usize, is_signed: bool| match (n_bits, is_signed) {
        (32, true) => i128::from(args[at] as u32 as i32),
        (32, false) => i128::from(args[at] as u32),
        (_, true) => i128::from(args[at] as i64),
        _ => i128::from(args[at]),
    };
    let of_int = |value: i128| value as u64 & (u64::MAX >> (64 - n_bits));
    let float = |at: usize| match of {
        Class::F32 => f64::from(f32::from_bits(args[at] as u32)),
        _ => f64::from_bits(args[at]),
    };
    Some(match (op, of) {
        (Op::Arith(arith, is_signed), Class::I32 | Class::I64) => {
            let (a, b) = (int(0, is_signed), int(1, is_signed));
            let shift = args[1] as u32;
            of_int(match arith {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a.wrapping_mul(b),
                Arith::MulHi if is_signed => (a * b) >> n_bits,
                Arith::MulHi => ((a as u128 * b as u128) >> n_bits) as i128,
                // The lowest number by -1 does not fit.
                Arith::Div | Arith::Rem if b == 0 || is_signed && b == -1 && a == -1 << (n_bits - 1) => return None,
                Arith::Div => a / b,
                Arith::Rem => a % b,
                Arith::And => a & b,
                Arith::Or => a | b,
                Arith::Xor => a ^ b,
                Arith::Shl if shift >= n_bits => 0,
                Arith::Shl => a << shift,
                Arith::Shr => a >> shift.min(if is_signed { n_bits - 1 } else { n_bits }),
                Arith::Min => a.min(b),
                Arith::Max => a.max(b),
            })
        }
        (Op::Arith(arith, _), Class::Pred) => match arith {
            Arith::And => args[0] & args[1],
            Arith::Or => args[0] | args[1],
            Arith::Xor => args[0] ^ args[1],
            _ => return None,
        },
        (Op::Arith(arith, _), Class::F32 | Class::F64) => {
            // An `f64` has more than twice the bits of an `f32`: rounding twice changes no result.
            let (a, b) = (float(0), float(1));
            let result = match arith {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div => a / b,
                _ => return None,
            };
            // The bits of a NaN differ between machines.
            if a.is_nan() || b.is_nan() || result.is_nan() {
                return None;
            }
            if of == Class::F32 { u64::from((result as f32).to_bits()) } else { result.to_bits() }
        }
        (Op::Neg, Class::F32 | Class::F64) => args[0] ^ sign_bit(of),
        (Op::Neg, Class::I32 | Class::I64) => of_int(-int(0, true)),
        (Op::Not, Class::Pred) => 1 - args[0],
        (Op::Not, Class::I32 | Class::I64) => of_int(!int(0, true)),
        (Op::Compare(compare, is_signed), _) => {
            let order = match of {
                Class::F32 | Class::F64 => float(0).partial_cmp(&float(1)),
                _ => Some(int(0, is_signed).cmp(&int(1, is_signed))),
            };
            u64::from(match compare {
                Compare::Eq => order.is_some_and(|order| order.is_eq()),
                Compare::Ne => order.is_none_or(|order| order.is_ne()),
                Compare::Lt => order.is_some_and(|order| order.is_lt()),
                Compare::Le => order.is_some_and(|order| order.is_le()),
                Compare::Gt => order.is_some_and(|order| order.is_gt()),
                Compare::Ge => order.is_some_and(|order| order.is_ge()),
            })
        }
        (Op::Select, _) => args[if args[0] == 0 { 2 } else { 1 }],
        (Op::Bits, _) => args[0],
        (Op::Convert(from, to), _) => convert(from, to, args[0])?,
        (Op::Fma, Class::F32) => {
            let [a, b, c] = [0, 1, 2].map(|at| f32::from_bits(args[at] as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        (Op::Fma, Class::F64) => float(0).mul_add(float(1), float(2)).to_bits(),
        _ => return None,
    })
    .filter(|_| class != Class::None)
}

/// Converts bits of a number to bits of another type, as C does.
pub(crate) fn convert(from: Num, to: Num, bits: u64) -> Option<u64> {
    let from = from.held();
    if from.is_float() {
        let value = if from == Num::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
        return Some(match to {
            Num::Bool => u64::from(value != 0.0),
            Num::F32 if from == Num::F32 => bits,
            Num::F32 => u64::from((value as f32).to_bits()),
            Num::F64 => value.to_bits(),
            // A value that does not fit is undefined in C++; PTX clamps to 32 or 64 bits.
            Num::S32 => u64::from(value as i32 as u32),
            Num::U32 => u64::from(value as u32),
            Num::S64 => value as i64 as u64,
            Num::U64 => value as u64,
            _ => convert(Num::S32, to, u64::from(value as i32 as u32))?,
        });
    }
    // The number that the bits mean.
    let value: i128 = match from {
        Num::S8 | Num::S16 | Num::S32 => i128::from(bits as u32 as i32),
        Num::U8 | Num::U16 | Num::U32 => i128::from(bits as u32),
        Num::S64 => i128::from(bits as i64),
        _ => i128::from(bits),
    };
    Some(match to {
        Num::Bool => u64::from(value != 0),
        Num::S8 => u64::from(value as i8 as i32 as u32),
        Num::U8 => u64::from(value as u8),
        Num::S16 => u64::from(value as i16 as i32 as u32),
        Num::U16 => u64::from(value as u16),
        Num::S32 | Num::U32 => u64::from(value as u32),
        Num::S64 | Num::U64 => value as u64,
        Num::F32 => u64::from((value as f32).to_bits()),
        Num::F64 => (value as f64).to_bits(),
        Num::Char | Num::Long | Num::ULong => convert(from, to.held(), bits)?,
    })
}

//! Names that CUDA itself declares: indices, barriers, shuffles, votes, atomics, conversions and mathematics.

use super::{Explained as _, Lowering, Result, Rvalue, error, unsupported};
use crate::source::Span;
use crate::ssa::{Arith, Class, Compare, Num, Op, Value};
use crate::tree::{Expression, ExpressionKind};
use crate::types::{BOOL, Qualified, Type};

/// Operations on values of fixed types: name, types of the arguments and of the result, and the operation.
#[rustfmt::skip]
const PURE: &[(&str, &[Num], Num, Op)] = {
    use Num::{F32, F64, S32, S64, U32, U64};
    const fn pure(name: &'static str) -> Op { Op::Pure(name) }
    &[
        ("fmaf", &[F32; 3], F32, Op::Fma),
        ("__fmaf_rn", &[F32; 3], F32, Op::Fma),
        ("__fma_rn", &[F64; 3], F64, Op::Fma),
        ("sqrtf", &[F32], F32, pure("sqrt.rn.f32")),
        ("__fsqrt_rn", &[F32], F32, pure("sqrt.rn.f32")),
        ("rsqrtf", &[F32], F32, pure("rsqrt.approx.f32")),
        ("__frcp_rn", &[F32], F32, pure("rcp.rn.f32")),
        ("__fdividef", &[F32; 2], F32, pure("div.approx.f32")),
        ("__fdiv_rn", &[F32; 2], F32, pure("div.rn.f32")),
        ("__fadd_rn", &[F32; 2], F32, pure("add.rn.f32")),
        ("__fsub_rn", &[F32; 2], F32, pure("sub.rn.f32")),
        ("__fmul_rn", &[F32; 2], F32, pure("mul.rn.f32")),
        ("__dadd_rn", &[F64; 2], F64, pure("add.rn.f64")),
        ("__dsub_rn", &[F64; 2], F64, pure("sub.rn.f64")),
        ("__dmul_rn", &[F64; 2], F64, pure("mul.rn.f64")),
        ("fabsf", &[F32], F32, pure("abs.f32")),
        ("fminf", &[F32; 2], F32, Op::Arith(Arith::Min, false)),
        ("fmaxf", &[F32; 2], F32, Op::Arith(Arith::Max, false)),
        ("fmin", &[F64; 2], F64, Op::Arith(Arith::Min, false)),
        ("fmax", &[F64; 2], F64, Op::Arith(Arith::Max, false)),
        ("floorf", &[F32], F32, pure("cvt.rmi.f32.f32")),
        ("ceilf", &[F32], F32, pure("cvt.rpi.f32.f32")),
        ("truncf", &[F32], F32, pure("cvt.rzi.f32.f32")),
        ("rintf", &[F32], F32, pure("cvt.rni.f32.f32")),
        ("nearbyintf", &[F32], F32, pure("cvt.rni.f32.f32")),
        ("exp2f", &[F32], F32, pure("ex2.approx.f32")),
        ("__sinf", &[F32], F32, pure("sin.approx.f32")),
        ("__cosf", &[F32], F32, pure("cos.approx.f32")),
        ("__log2f", &[F32], F32, pure("lg2.approx.f32")),
        ("__popc", &[U32], S32, pure("popc.b32")),
        ("__popcll", &[U64], S32, pure("popc.b64")),
        ("__clz", &[S32], S32, pure("clz.b32")),
        ("__clzll", &[S64], S32, pure("clz.b64")),
        ("__brev", &[U32], U32, pure("brev.b32")),
        ("__mulhi", &[S32; 2], S32, Op::Arith(Arith::MulHi, true)),
        ("__umulhi", &[U32; 2], U32, Op::Arith(Arith::MulHi, false)),
        ("__float_as_int", &[F32], S32, Op::Bits),
        ("__float_as_uint", &[F32], U32, Op::Bits),
        ("__int_as_float", &[S32], F32, Op::Bits),
        ("__uint_as_float", &[U32], F32, Op::Bits),
        ("__double_as_longlong", &[F64], S64, Op::Bits),
        ("__longlong_as_double", &[S64], F64, Op::Bits),
        ("__float2int_rn", &[F32], S32, pure("cvt.rni.s32.f32")),
        ("__float2int_rz", &[F32], S32, Op::Convert(F32, S32)),
        ("__float2int_rd", &[F32], S32, pure("cvt.rmi.s32.f32")),
        ("__float2int_ru", &[F32], S32, pure("cvt.rpi.s32.f32")),
        ("__float2uint_rn", &[F32], U32, pure("cvt.rni.u32.f32")),
        ("__float2uint_rz", &[F32], U32, Op::Convert(F32, U32)),
        ("__int2float_rn", &[S32], F32, Op::Convert(S32, F32)),
        ("__uint2float_rn", &[U32], F32, Op::Convert(U32, F32)),
    ]
};

/// An operation of threads together, or on the order of memory.
struct Together {
    name: &'static str,
    takes: &'static [Num],
    /// The mask that is meant where none is given.
    mask: Option<u64>,
    gives: Option<Num>,
    ptx: &'static str,
    /// True if loads and stores stay before or behind it.
    orders_memory: bool,
}

const fn together(name: &'static str, takes: &'static [Num], gives: Option<Num>, ptx: &'static str) -> Together {
    Together { name, takes, mask: None, gives, ptx, orders_memory: false }
}

const fn barrier(name: &'static str, takes: &'static [Num], gives: Option<Num>, ptx: &'static str) -> Together {
    Together { orders_memory: true, ..together(name, takes, gives, ptx) }
}

const TOGETHER: [Together; 17] = {
    use Num::{Bool, S32, S64, U32};
    [
        barrier("__syncthreads", &[], None, "bar.sync 0"),
        barrier("__syncthreads_count", &[Bool], Some(S32), "bar.red.popc.u32 0"),
        barrier("__syncthreads_or", &[Bool], Some(Bool), "bar.red.or.pred 0"),
        barrier("__syncthreads_and", &[Bool], Some(Bool), "bar.red.and.pred 0"),
        Together { mask: Some(0xFFFF_FFFF), ..barrier("__syncwarp", &[U32], None, "bar.warp.sync") },
        barrier("__threadfence", &[], None, "membar.gl"),
        barrier("__threadfence_block", &[], None, "membar.cta"),
        barrier("__threadfence_system", &[], None, "membar.sys"),
        barrier("__nanosleep", &[U32], None, "nanosleep.u32"),
        barrier("__trap", &[], None, "trap"),
        together("__ballot_sync", &[U32, Bool], Some(U32), "vote.sync.ballot.b32"),
        together("__any_sync", &[U32, Bool], Some(Bool), "vote.sync.any.pred"),
        together("__all_sync", &[U32, Bool], Some(Bool), "vote.sync.all.pred"),
        together("__match_any_sync", &[U32, U32], Some(U32), "match.any.sync.b32"),
        together("__activemask", &[], Some(U32), "activemask.b32"),
        together("clock64", &[], Some(S64), "mov.u64 %clock64"),
        together("clock", &[], Some(S32), "mov.u32 %clock"),
    ]
};

const OTHERS: &str = "threadIdx blockIdx blockDim gridDim warpSize min max abs fabs sqrt rsqrt fma expf exp __expf logf __logf \
    powf __powf sinf cosf tanhf isnan isinf __ffs __ldg printf assert __shfl_sync __shfl_up_sync \
    __shfl_down_sync __shfl_xor_sync atomicAdd atomicSub atomicMin atomicMax atomicAnd atomicOr atomicXor \
    atomicExch atomicCAS atomicInc atomicDec make_float2 make_float3 make_float4 make_int2 make_int4 make_uint2 \
    make_uint4 make_double2 floor ceil swap";

/// Functions of CUDA that are not compiled.
const UNKNOWN: &str = "printf assert malloc free memcpy memset logf log powf pow sinf cosf sin cos tanhf tanh tanf roundf \
    __pipeline_memcpy_async __pipeline_commit __pipeline_wait_prior __cvta_generic_to_shared";

/// Names for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let tables = PURE.iter().map(|row| row.0).chain(TOGETHER.iter().map(|row| row.name));
    tables.chain(OTHERS.split_whitespace())
}

impl Lowering<'_> {
    /// Returns the value of `threadIdx.x` and its like.
    pub(super) fn special(&mut self, one: &Expression) -> Result<Option<Rvalue>> {
        let (of, member) = match &one.kind {
            ExpressionKind::Member { of, is_arrow: false, name } => (&**of, Some(name)),
            _ => (one, None),
        };
        let ExpressionKind::Name { scope: None, name, arguments: None } = &of.kind else { return Ok(None) };
        let registers: [&'static str; 3] = match &*name.text {
            "threadIdx" => ["tid.x", "tid.y", "tid.z"],
            "blockIdx" => ["ctaid.x", "ctaid.y", "ctaid.z"],
            "blockDim" => ["ntid.x", "ntid.y", "ntid.z"],
            "gridDim" => ["nctaid.x", "nctaid.y", "nctaid.z"],
            "warpSize" if member.is_none() && self.find("warpSize")?.is_none() => return Ok(Some(self.int_value(32))),
            _ => return Ok(None),
        };
        if self.find(&name.text)?.is_some() {
            return Ok(None);
        }
        let read = |this: &mut Self, at: usize| this.graph.make(Op::Special(registers[at]), Class::I32, &[]);
        let Some(member) = member else {
            let parts = (0..3).map(|at| read(self, at)).collect();
            let name = if registers[0].contains("ntid") || registers[0].contains("nctaid") { "dim3" } else { "uint3" };
            let ty = Type::vector(name).expect("a vector type");
            return Ok(Some(Rvalue { ty, parts }));
        };
        match ["x", "y", "z"].iter().position(|known| *known == &*member.text) {
            Some(at) => Ok(Some(Rvalue { ty: Type::Num(Num::U32), parts: vec![read(self, at)] })),
            None => {
                let text = format!("`{}` has no member `{}`", name.text, member.text);
                error(member.span, text).label("its members are `x`, `y` and `z`")
            }
        }
    }

    fn scalars(
        &mut self, name: &str, values: &[Rvalue], nums: &[Num], spans: &[Span], span: Span,
    ) -> Result<Vec<Value>> {
        if values.len() != nums.len() {
            return wrong_number(name, nums.len(), values, span);
        }
        let mut parts = Vec::new();
        for ((value, &num), &span) in values.iter().zip(nums).zip(spans) {
            parts.push(self.convert(value, &Type::Num(num), span)?.parts[0]);
        }
        Ok(parts)
    }

    fn f32(&mut self, bits: u32) -> Value {
        self.graph.bits(Class::F32, u64::from(bits))
    }

    fn pure_f32(&mut self, name: &'static str, args: &[Value]) -> Value {
        self.graph.make(Op::Pure(name), Class::F32, args)
    }

    fn effect(&mut self, name: &'static str, class: Class, args: &[Value], touches_memory: bool) -> Value {
        self.graph.effect(Op::Effect { name, touches_memory }, class, args)
    }

    /// Lowers a call of a function that CUDA declares; `None` for a name that it does not.
    pub(super) fn intrinsic(
        &mut self, name: &str, values: &[Rvalue], spans: &[Span], span: Span,
    ) -> Result<Option<Rvalue>> {
        let one = |num: Num, part: Value| Ok(Some(Rvalue { ty: Type::Num(num), parts: vec![part] }));
        if let Some(&(name, nums, result, op)) = PURE.iter().find(|row| row.0 == name) {
            let args = self.scalars(name, values, nums, spans, span)?;
            return one(result, self.graph.make(op, result.class(), &args));
        }
        if let Some(row) = TOGETHER.iter().find(|row| row.name == name) {
            let (mut values, mut spans) = (values.to_vec(), spans.to_vec());
            if let (Some(mask), true) = (row.mask, values.is_empty()) {
                values.push(Rvalue { ty: Type::Num(Num::U32), parts: vec![self.graph.bits(Class::I32, mask)] });
                spans.push(span);
            }
            let mut args = self.scalars(name, &values, row.takes, &spans, span)?;
            // PTX has the mask behind the value.
            args.reverse();
            let class = row.gives.map_or(Class::None, Num::class);
            let value = self.effect(row.ptx, class, &args, row.orders_memory);
            return match row.gives {
                None => Ok(Some(Rvalue { ty: Type::Void, parts: Vec::new() })),
                Some(Num::Bool) => {
                    let int = self.converted(value, Num::Bool, Num::S32);
                    one(Num::S32, int)
                }
                Some(num) => one(num, value),
            };
        }
        if let Some(ty) = name.strip_prefix("make_").and_then(Type::vector) {
            let Type::Struct(of) = &ty else { unreachable!("a vector") };
            let num = of.fields[0].ty.ty.num().expect("a scalar");
            let parts = self.scalars(name, values, &vec![num; of.fields.len()], spans, span)?;
            return Ok(Some(Rvalue { ty: ty.clone(), parts }));
        }
        if let Some(mode) = name.strip_prefix("__shfl_").and_then(|rest| rest.strip_suffix("sync")) {
            return self.shuffle(name, mode, values, spans, span).map(Some);
        }
        if name.starts_with("atomic") {
            return self.atomic(name, values, spans, span);
        }
        match name {
            "min" | "max" | "fma" | "abs" | "fabs" | "sqrt" | "rsqrt" | "exp" | "floor" | "ceil" | "isnan"
            | "isinf" => self.overloaded(name, values, spans, span).map(Some),
            "expf" | "__expf" | "__logf" | "__powf" => {
                let n = 1 + usize::from(name == "__powf");
                let args = self.scalars(name, values, &vec![Num::F32; n], spans, span)?;
                let value = self.mathematics(name, &args);
                one(Num::F32, value)
            }
            "__ffs" => {
                let args = self.scalars(name, values, &[Num::S32], spans, span)?;
                let reversed = self.graph.make(Op::Pure("brev.b32"), Class::I32, &args);
                let shift = self.graph.make(Op::Pure("bfind.shiftamt.u32"), Class::I32, &[reversed]);
                let one_more = self.graph.bits(Class::I32, 1);
                one(Num::S32, self.graph.make(Op::Arith(Arith::Add, false), Class::I32, &[shift, one_more]))
            }
            "__ldg" => {
                let Some(Rvalue { ty: Type::Pointer(to), parts }) = values.first() else {
                    return error(span, "`__ldg` takes a pointer");
                };
                let mut loaded = Vec::new();
                for (offset, num) in to.ty.parts().unwrap_or_default() {
                    let address = self.offset(parts[0], offset);
                    let align = super::aligned(&to.ty, offset, num);
                    let op = Op::Load { num, is_volatile: false, is_constant: true, align };
                    loaded.push(self.graph.effect(op, num.class(), &[address]));
                }
                Ok(Some(Rvalue { ty: to.ty.clone(), parts: loaded }))
            }
            _ if UNKNOWN.split_whitespace().any(|known| known == name) => unsupported(span, format!("`{name}`")),
            _ => Ok(None),
        }
    }

    fn overloaded(&mut self, name: &str, values: &[Rvalue], spans: &[Span], span: Span) -> Result<Rvalue> {
        let n = match name {
            "min" | "max" => 2,
            "fma" => 3,
            _ => 1,
        };
        let mut ty = match values.first() {
            Some(first) if values.len() == n => self.promoted(first, span)?.ty,
            _ => return wrong_number(name, n, values, span),
        };
        for value in values {
            let value = self.promoted(value, span)?;
            let other = Rvalue { ty: ty.clone(), parts: Vec::new() };
            ty = self.common_type(&value, &other, span)?;
        }
        let mut num = ty.num().expect("a number");
        // What has no version for whole numbers takes them as `double`.
        if !num.is_float() && !matches!(name, "min" | "max" | "abs") {
            num = Num::F64;
        }
        let args = self.scalars(name, values, &vec![num; n], spans, span)?;
        let is_double = num == Num::F64;
        let pick = |single: &'static str, double: &'static str| Op::Pure(if is_double { double } else { single });
        let op = match name {
            "min" => Op::Arith(Arith::Min, num.is_signed()),
            "max" => Op::Arith(Arith::Max, num.is_signed()),
            "fma" => Op::Fma,
            "abs" | "fabs" => match num {
                Num::S32 => Op::Pure("abs.s32"),
                Num::S64 => Op::Pure("abs.s64"),
                Num::U32 | Num::U64 => {
                    return error(span, format!("`abs` of `{ty}`, which is never negative"));
                }
                _ => pick("abs.f32", "abs.f64"),
            },
            "sqrt" => pick("sqrt.rn.f32", "sqrt.rn.f64"),
            "rsqrt" if !is_double => Op::Pure("rsqrt.approx.f32"),
            "floor" => pick("cvt.rmi.f32.f32", "cvt.rmi.f64.f64"),
            "ceil" => pick("cvt.rpi.f32.f32", "cvt.rpi.f64.f64"),
            "exp" if !is_double => {
                let part = self.mathematics("expf", &args);
                return Ok(Rvalue { ty: Type::Num(num), parts: vec![part] });
            }
            "isnan" => {
                let op = Op::Compare(Compare::Ne, false);
                return Ok(Rvalue { ty: BOOL, parts: vec![self.graph.make(op, Class::Pred, &[args[0], args[0]])] });
            }
            "isinf" => {
                let abs = self.graph.make(pick("abs.f32", "abs.f64"), num.class(), &args);
                let bits = if is_double { f64::INFINITY.to_bits() } else { u64::from(f32::INFINITY.to_bits()) };
                let infinity = self.graph.bits(num.class(), bits);
                let part = self.graph.make(Op::Compare(Compare::Eq, false), Class::Pred, &[abs, infinity]);
                return Ok(Rvalue { ty: BOOL, parts: vec![part] });
            }
            _ => return unsupported(span, format!("`{name}` of `double`")),
        };
        let part = self.graph.make(op, num.class(), &args);
        Ok(Rvalue { ty: Type::Num(num), parts: vec![part] })
    }

    /// Functions that NVRTC's library computes in several instructions: the same ones.
    fn mathematics(&mut self, name: &str, args: &[Value]) -> Value {
        const LOG2_E: u32 = 0x3FB8_AA3B;
        let multiply = Op::Arith(Arith::Mul, false);
        let x = args[0];
        match name {
            "__expf" => {
                let factor = self.f32(LOG2_E);
                let scaled = self.graph.make(multiply, Class::F32, &[x, factor]);
                self.pure_f32("ex2.approx.f32", &[scaled])
            }
            "__logf" => {
                let log = self.pure_f32("lg2.approx.f32", &[x]);
                let factor = self.f32(0x3F31_7218);
                self.graph.make(multiply, Class::F32, &[log, factor])
            }
            "__powf" => {
                let log = self.pure_f32("lg2.approx.f32", &[x]);
                let scaled = self.graph.make(multiply, Class::F32, &[log, args[1]]);
                self.pure_f32("ex2.approx.f32", &[scaled])
            }
            _ => {
                let [a, b, c, d, e, f, g] =
                    [0x3BBB_989D, 0x3F00_0000, 0x4B40_0001, 0x437C_0000, 0xCB40_007F, LOG2_E, 0x32A5_7060]
                        .map(|bits| self.f32(bits));
                let scaled = self.graph.make(Op::Fma, Class::F32, &[x, a, b]);
                let clamped = self.pure_f32("cvt.sat.f32.f32", &[scaled]);
                let whole = self.pure_f32("fma.rm.f32", &[clamped, d, c]);
                let back = self.graph.make(Op::Arith(Arith::Add, false), Class::F32, &[whole, e]);
                let negative = self.graph.make(Op::Neg, Class::F32, &[back]);
                let high = self.graph.make(Op::Fma, Class::F32, &[x, f, negative]);
                let rest = self.graph.make(Op::Fma, Class::F32, &[x, g, high]);
                let bits = self.graph.make(Op::Bits, Class::I32, &[whole]);
                let places = self.graph.bits(Class::I32, 23);
                let exponent = self.graph.make(Op::Arith(Arith::Shl, false), Class::I32, &[bits, places]);
                let power = self.graph.make(Op::Bits, Class::F32, &[exponent]);
                let fraction = self.pure_f32("ex2.approx.ftz.f32", &[rest]);
                self.graph.make(multiply, Class::F32, &[fraction, power])
            }
        }
    }

    fn shuffle(&mut self, name: &str, mode: &str, values: &[Rvalue], spans: &[Span], span: Span) -> Result<Rvalue> {
        let ptx = match mode {
            "" => "shfl.sync.idx.b32",
            "up_" => "shfl.sync.up.b32",
            "down_" => "shfl.sync.down.b32",
            "xor_" => "shfl.sync.bfly.b32",
            _ => return error(span, format!("there is no `{name}`")),
        };
        let (Some(shuffled), 3 | 4) = (values.get(1), values.len()) else {
            return error(span, format!("`{name}` takes a mask, a value, a lane and perhaps a width"))
                .label(format!("{} arguments are given", values.len()));
        };
        let shuffled = self.promoted(shuffled, spans[1])?;
        let num = shuffled.ty.num().expect("a number");
        let mask = self.convert(&values[0], &Type::Num(Num::U32), spans[0])?.parts[0];
        let lane = self.convert(&values[2], &Type::Num(Num::U32), spans[2])?.parts[0];
        let width = match values.get(3) {
            Some(width) => self.convert(width, &Type::Num(Num::S32), spans[3])?.parts[0],
            None => self.graph.bits(Class::I32, 32),
        };
        let [full, shift, all] =
            [32, 8, if mode == "up_" { 0 } else { 31 }].map(|bits| self.graph.bits(Class::I32, bits));
        let segment = self.graph.make(Op::Arith(Arith::Sub, false), Class::I32, &[full, width]);
        let segment = self.graph.make(Op::Arith(Arith::Shl, false), Class::I32, &[segment, shift]);
        let clamp = self.graph.make(Op::Arith(Arith::Or, false), Class::I32, &[segment, all]);
        let part = match num.class() {
            Class::I64 | Class::F64 => {
                let bits = self.graph.make(Op::Bits, Class::I64, &[shuffled.parts[0]]);
                let places = self.graph.bits(Class::I32, 32);
                let above = self.graph.make(Op::Arith(Arith::Shr, false), Class::I64, &[bits, places]);
                let halves = [above, bits].map(|half| {
                    let half = self.graph.make(Op::Convert(Num::U64, Num::U32), Class::I32, &[half]);
                    let moved = self.effect(ptx, Class::I32, &[half, lane, clamp, mask], false);
                    self.graph.make(Op::Convert(Num::U32, Num::U64), Class::I64, &[moved])
                });
                let above = self.graph.make(Op::Arith(Arith::Shl, false), Class::I64, &[halves[0], places]);
                let both = self.graph.make(Op::Arith(Arith::Or, false), Class::I64, &[above, halves[1]]);
                self.graph.make(Op::Bits, num.class(), &[both])
            }
            class => {
                let bits = self.graph.make(Op::Bits, Class::I32, &[shuffled.parts[0]]);
                let moved = self.effect(ptx, Class::I32, &[bits, lane, clamp, mask], false);
                self.graph.make(Op::Bits, class, &[moved])
            }
        };
        Ok(Rvalue { ty: shuffled.ty, parts: vec![part] })
    }

    fn atomic(&mut self, name: &str, values: &[Rvalue], spans: &[Span], span: Span) -> Result<Option<Rvalue>> {
        let (rest, scope) = match (name.strip_suffix("_block"), name.strip_suffix("_system")) {
            (Some(rest), _) => (rest, "cta"),
            (_, Some(rest)) => (rest, "sys"),
            _ => (name, ""),
        };
        const OPERATIONS: [&str; 10] = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];
        let word = rest.trim_start_matches("atomic").to_ascii_lowercase();
        let word = if rest == "atomicSub" { "add" } else { &*word };
        let Some(op) = OPERATIONS.into_iter().find(|known| *known == word) else { return Ok(None) };
        let n = if op == "cas" { 3 } else { 2 };
        if values.len() != n {
            return wrong_number(name, n, values, span);
        }
        let Type::Pointer(to) = &values[0].ty else {
            let text =
                format!("`{name}` takes the address of what it changes, and this is a value of `{}`", values[0].ty);
            return error(spans[0], text).help(format!("write `&{}`", self.sources.text(spans[0])));
        };
        let Qualified { ty: Type::Num(num), is_const: false, .. } = **to else {
            return error(spans[0], format!("`{name}` does not take `{}`", values[0].ty));
        };
        let ty = match (op, num) {
            ("and" | "or" | "xor" | "exch" | "cas", Num::S32 | Num::U32) => "b32",
            ("and" | "or" | "xor" | "exch" | "cas", Num::U64 | Num::S64) => "b64",
            ("exch", Num::F32) => "b32",
            ("add", Num::F32) => "f32",
            ("add", Num::F64) => "f64",
            ("add", Num::S32 | Num::U32) => "u32",
            ("add", Num::U64) => "u64",
            ("min" | "max", Num::S32) => "s32",
            ("min" | "max" | "inc" | "dec", Num::U32) => "u32",
            ("min" | "max", Num::S64) => "s64",
            ("min" | "max", Num::U64) => "u64",
            _ => {
                return error(span, format!("there is no `{name}` for `{}`", to.ty));
            }
        };
        if rest == "atomicSub" && num.is_float() {
            return error(span, "there is no `atomicSub` for floats").help("add the negative value");
        }
        let mut args = vec![values[0].parts[0]];
        if self.graph.object_of(args[0]).is_some_and(|object| self.graph.objects[object as usize].parts.is_some()) {
            self.part(args[0], num);
        }
        for (value, &span) in values[1..].iter().zip(&spans[1..]) {
            args.push(self.convert(value, &to.ty, span)?.parts[0]);
        }
        if rest == "atomicSub" {
            args[1] = self.graph.make(Op::Neg, num.class(), &[args[1]]);
        }
        let is_bits = ty == "b32" && num == Num::F32;
        if is_bits {
            args[1] = self.graph.make(Op::Bits, Class::I32, &[args[1]]);
        }
        let class = if is_bits { Class::I32 } else { num.class() };
        let value = self.graph.effect(Op::Atomic(op, ty, scope), class, &args);
        let value = if is_bits { self.graph.make(Op::Bits, Class::F32, &[value]) } else { value };
        Ok(Some(Rvalue { ty: to.ty.clone(), parts: vec![value] }))
    }
}

fn wrong_number<T>(name: &str, takes: usize, values: &[Rvalue], span: Span) -> Result<T> {
    let s = if takes == 1 { "" } else { "s" };
    error(span, format!("`{name}` takes {takes} argument{s}, and {} are given", values.len()))
}

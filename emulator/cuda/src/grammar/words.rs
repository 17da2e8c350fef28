//! Words that mean something by themselves: keywords, types of C++, of CUDA and of other languages.

use crate::lex::one_of;
use crate::tree::TypeKind;

/// Words that start declarations.
pub(super) const SPECIFIERS: &str = "const constexpr volatile static extern inline typedef register thread_local \
    alignas typename struct signed unsigned short long int char float double bool void auto decltype mutable \
    explicit virtual friend enum union class __global__ __device__ __host__ __shared__ __constant__ __managed__ \
    __forceinline__ __noinline__ __inline__ __launch_bounds__ __align__ __cluster_dims__ __maxnreg__ \
    __grid_constant__ __attribute__ __declspec";

/// Other words that are no names.
const OTHERS: &str = "alignof asm break case catch const_cast continue default delete do dynamic_cast else false \
    for goto if namespace new noexcept nullptr operator private protected public reinterpret_cast return sizeof \
    static_assert static_cast switch template this throw true try typeid using while";

pub(super) const SCALARS: &str = "int float double bool char unsigned long short signed void auto";

/// Types that CUDA has and this compiler does not know.
pub(super) const UNKNOWN_OF_CUDA: &str = "half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 \
    __nv_fp8_e4m3 __nv_fp8_e5m2 __int128 wchar_t char16_t char32_t cudaTextureObject_t";

pub(super) fn is_reserved(word: &str) -> bool {
    one_of(word, SPECIFIERS) || one_of(word, OTHERS)
}

/// Returns whether a line that begins with `word` begins a statement or an item.
pub(super) fn starts_statement(word: &str) -> bool {
    one_of(word, SPECIFIERS)
        || one_of(word, "for if while do switch return break continue using template static_assert")
}

pub(super) fn int(bits: u8, is_signed: bool) -> TypeKind {
    TypeKind::Int { bits, is_signed, is_long_long: false }
}

/// Returns the integers of `<cstdint>` and `<cstddef>`.
pub(super) fn integer(word: &str) -> Option<TypeKind> {
    let (name, is_signed) = word.strip_prefix('u').map_or((word, true), |name| (name, false));
    match (word, name) {
        ("size_t", _) => Some(int(64, false)),
        ("ptrdiff_t", _) => Some(int(64, true)),
        ("uint", _) => Some(int(32, false)),
        (_, "intptr_t" | "int64_t") => Some(int(64, is_signed)),
        (_, "int32_t") => Some(int(32, is_signed)),
        (_, "int16_t") => Some(int(16, is_signed)),
        (_, "int8_t") => Some(int(8, is_signed)),
        _ => None,
    }
}

pub(super) fn is_vector(word: &str) -> bool {
    let scalars = "char uchar short ushort int uint long ulong longlong ulonglong float double";
    word == "dim3" || word.strip_suffix(['1', '2', '3', '4']).is_some_and(|scalar| one_of(scalar, scalars))
}

/// Types of Rust and other languages, and those of C++.
const TYPES: &str = "f32=float float32=float f64=double float64=double real=double i8=signed_char u8=unsigned_char \
    byte=unsigned_char i16=short u16=unsigned_short i32=int int32=int integer=int u32=unsigned uint32=unsigned \
    i64=long_long int64=long_long isize=long_long u64=unsigned_long_long uint64=unsigned_long_long usize=size_t \
    boolean=bool var=auto";

/// Returns what stands behind `key` in a table such as `f32=float f64=double`.
pub(super) fn find<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    table.split(' ').filter_map(|row| row.split_once('=')).find(|row| row.0 == key).map(|row| row.1)
}

/// Returns the type of C++ that is like one of another language.
pub(super) fn foreign_type(word: &str) -> Option<String> {
    let cpp = find(TYPES, word)?;
    Some(if cpp == "size_t" { cpp.to_owned() } else { cpp.replace('_', " ") })
}

/// Returns the type of a name that [`foreign_type`] gives.
pub(super) fn kind_of(cpp: &str) -> TypeKind {
    let is_signed = !cpp.starts_with("unsigned") && cpp != "size_t";
    let bits = match cpp {
        "float" => return TypeKind::Float,
        "double" => return TypeKind::Double,
        "bool" => return TypeKind::Bool,
        "auto" => return TypeKind::Auto,
        _ if cpp.ends_with("char") => 8,
        _ if cpp.ends_with("short") => 16,
        _ if cpp.ends_with("long") || cpp == "size_t" => 64,
        _ => 32,
    };
    TypeKind::Int { bits, is_signed, is_long_long: cpp.ends_with("long long") }
}

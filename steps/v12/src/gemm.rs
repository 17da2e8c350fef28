//! A GEMM library: chooses a plan for each product, and launches its kernel. One call for bf16, TF32 and FP8.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError,
    LaunchConfig,
};
use harness::dependent::argument;
use harness::inputs::Real;
pub use harness::library::Error;
use harness::library::{self, Operand, Scratch, check};
pub use harness::map::Layout;
use harness::map::{Element, Matrix, Swizzle, TensorMap};
use harness::{Bf16, E4m3, KernelSource, Shape, blocks, code, dependent, to_i32};
use serde::{Deserialize, Serialize};

use crate::plans::{OF_BF16, OF_E4M3, OF_TF32, Plan, ROW_BYTES, TERMS, Work, expected, terms};

const PACK: KernelSource = code!("v12_pack");

// ANCHOR: factor
/// A type of A and B.
pub trait Factor: Real + DeviceRepr {
    /// The element as boxes are copied: floats are rounded to TF32 on the way.
    const ELEMENT: Element;
    const NAME: &'static str;
    const CODE: KernelSource;
    const PLANS: &'static [Plan];
    /// Prefixes of kernels' names after `gemm_v12_`, one for each kind of sums: promoted ones first, where a type has
    /// them, then those that stay in the tensor core.
    const KINDS: &'static [&'static str];
    /// Ends of names of kernels, by the type of C, and the bytes of its elements.
    const RESULTS: &'static [(&'static str, usize)];
    const PACK: &'static str;
    /// Kernels read B as N × K: only of 16 bits the tensor core takes it as K × N.
    const B_BY_K: bool = true;
    /// Elements in a row of a box, and in a line of L2.
    const LINE: usize = ROW_BYTES as usize / size_of::<Self>();
}

const TO_BOTH: &[(&str, usize)] = &[(f32::SUFFIX, size_of::<f32>()), (Bf16::SUFFIX, size_of::<Bf16>())];

impl Factor for Bf16 {
    const ELEMENT: Element = Element::Bf16;
    const NAME: &'static str = "bf16";
    const CODE: KernelSource = code!("v12_gemm");
    const PLANS: &'static [Plan] = &OF_BF16;
    const KINDS: &'static [&'static str] = &[""];
    const RESULTS: &'static [(&'static str, usize)] = TO_BOTH;
    const PACK: &'static str = "pack_v12";
    const B_BY_K: bool = false;
}

/// As TF32.
impl Factor for f32 {
    const ELEMENT: Element = Element::Tf32;
    const NAME: &'static str = "tf32";
    const CODE: KernelSource = code!("v12_gemm_tf32");
    const PLANS: &'static [Plan] = &OF_TF32;
    const KINDS: &'static [&'static str] = &["tf32_"];
    const RESULTS: &'static [(&'static str, usize)] = &[(f32::SUFFIX, size_of::<f32>())];
    const PACK: &'static str = "pack_v12_4";
}

impl Factor for E4m3 {
    const ELEMENT: Element = Element::E4m3;
    const NAME: &'static str = "e4m3";
    const CODE: KernelSource = code!("v12_gemm_e4m3");
    const PLANS: &'static [Plan] = &OF_E4M3;
    const KINDS: &'static [&'static str] = &["e4m3_", "e4m3_fast_"];
    const RESULTS: &'static [(&'static str, usize)] = TO_BOTH;
    const PACK: &'static str = "pack_v12_1";
}

/// A type of A and B of which there are products to `R`.
pub trait To<R: Output>: Factor {}

impl To<f32> for Bf16 {}
impl To<Bf16> for Bf16 {}
impl To<f32> for f32 {}
impl To<f32> for E4m3 {}
impl To<Bf16> for E4m3 {}
// ANCHOR_END: factor

/// An element of C.
pub trait Output: DeviceRepr {
    const ELEMENT: Element;
    /// End of the names of its kernels.
    const SUFFIX: &'static str;
    /// Place in [`Factor::RESULTS`].
    const INDEX: usize;
}

impl Output for f32 {
    const ELEMENT: Element = Element::F32;
    const SUFFIX: &'static str = "f32";
    const INDEX: usize = 0;
}

impl Output for Bf16 {
    const ELEMENT: Element = Element::Bf16;
    const SUFFIX: &'static str = "bf16";
    const INDEX: usize = 1;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Activation {
    None,
    Relu,
    /// By its usual approximation.
    Gelu,
}

/// `C = activation(alpha · op(A) · op(B) + beta · old + bias)`, all row-major.
#[derive(Debug, Clone, Copy)]
pub struct Product<'a, R> {
    pub shape: Shape,
    pub a: Layout,
    pub b: Layout,
    pub alpha: f32,
    /// Factor of the old C. With 0, it is not read.
    pub beta: f32,
    /// M × N elements in place of the old C, such as the input of a residual block.
    pub old: Option<&'a CudaSlice<R>>,
    /// N floats, one for each column.
    pub bias: Option<&'a CudaSlice<f32>>,
    pub activation: Activation,
    /// All sums of FP8 stay in the tensor core, which keeps fewer bits of them; otherwise partial sums are added in
    /// FP32. Other types have one kind of sums.
    pub fast_sums: bool,
}

impl<R> Product<'_, R> {
    pub const fn new(shape: Shape) -> Self {
        Self {
            shape,
            a: Layout::AsIs,
            b: Layout::AsIs,
            alpha: 1.0,
            beta: 0.0,
            old: None,
            bias: None,
            activation: Activation::None,
            fast_sums: false,
        }
    }

    /// Returns a product of operands that are stored as kernels of `T` read them.
    pub fn as_read<T: Factor>(shape: Shape) -> Self {
        Self { b: if T::B_BY_K { Layout::Transposed } else { Layout::AsIs }, ..Self::new(shape) }
    }

    fn needs_epilogue(&self) -> bool {
        self.beta != 0.0 || self.bias.is_some() || self.activation != Activation::None
    }
}

/// The epilogue as kernels take it.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Epilogue {
    alpha: f32,
    beta: f32,
    bias: CUdeviceptr,
    activation: Activation,
}

// SAFETY: plain numbers, laid out as in C.
unsafe impl DeviceRepr for Epilogue {}

/// Measurements (`cargo xtask tune v12`) by which plans for one type of A and B are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    pub device: String,
    pub driver: String,
    /// Of the last times: those of plans that were known to `tune --new` are older.
    pub date: String,
    /// Clusters that have a place at a time, with one block on a multiprocessor, by the number of their blocks: groups
    /// of multiprocessors are not all multiples of a cluster.
    pub clusters_at_once: BTreeMap<u32, usize>,
    /// Microseconds of each of the [`terms`], by kernel.
    pub kernels: BTreeMap<String, [f64; TERMS]>,
    /// The fastest kernels of usual sizes, by shape, in the order of [`kernel_names`], for operands that are stored as
    /// kernels read them: of several that are near each other, the terms may name another.
    pub fastest: BTreeMap<String, Vec<String>>,
}

impl Costs {
    /// Returns the costs of all types that were measured, by their names.
    pub fn committed() -> BTreeMap<String, Self> {
        serde_json::from_str(include_str!("../data/costs.json")).expect("a test reads it")
    }

    /// Returns the costs of a type.
    pub fn of<T: Factor>() -> Self {
        Self::committed().remove(T::NAME).expect("all types were measured")
    }

    /// Returns how many clusters of a plan have a place at a time.
    pub fn at_once(&self, plan: &Plan) -> usize {
        self.clusters_at_once.get(&plan.cluster()).copied().unwrap_or(1)
    }

    /// Returns the plans of the [`fastest`](Self::fastest) kernels.
    fn fastest_plans<T: Factor>(&self) -> HashMap<[usize; 3], Vec<usize>> {
        let names = kernel_names::<T>();
        let plans = |(shape, fastest): (&String, &Vec<String>)| {
            let sizes: Vec<_> = shape.split('x').filter_map(|size| size.parse().ok()).collect();
            let place = |(names, name): (&Vec<String>, _)| names.iter().position(|known| known == name);
            Some((sizes.try_into().ok()?, names.iter().zip(fastest).map(place).collect::<Option<_>>()?))
        };
        self.fastest.iter().filter_map(plans).collect()
    }
}

/// The kernels, loaded, for products in one stream, where they may share the memory for packed operands.
#[derive(Debug)]
pub struct Gemm<T: Factor> {
    stream: Arc<CudaStream>,
    /// Kernels as [`kernel_names`] lists them.
    kernels: Vec<Vec<PlanKernel>>,
    /// Plans of usual sizes, by M, N and K, for each list.
    fastest: HashMap<[usize; 3], Vec<usize>>,
    pack: CudaFunction,
    packed: RefCell<[Scratch<T>; 2]>,
    n_sms: usize,
}

#[derive(Debug)]
struct PlanKernel {
    function: CudaFunction,
    /// Clusters that have a place at a time.
    at_once: usize,
    /// Microseconds of each of the [`terms`]; `None` before it was timed.
    constants: Option<[f64; TERMS]>,
}

impl<T: Factor> Gemm<T> {
    pub fn load(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Self::of_module(stream, &T::CODE.load(stream.context())?)
    }

    /// Returns the kernels of a module that was made of [`Factor::CODE`].
    pub fn of_module(stream: &Arc<CudaStream>, module: &Arc<CudaModule>) -> Result<Self, Error> {
        let context = stream.context();
        let n_sms = library::count_sms(context)?;
        let costs = Costs::of::<T>();
        let load = |(plan, name): (&Plan, String)| -> Result<PlanKernel, DriverError> {
            let bytes = plan.launch(Shape::square(1), n_sms).shared_mem_bytes;
            let function = library::load_kernel(module, &name, bytes)?;
            let constants = costs.kernels.get(&name).copied();
            Ok(PlanKernel { function, at_once: costs.at_once(plan), constants })
        };
        let kernels =
            kernel_names::<T>().into_iter().map(|names| T::PLANS.iter().zip(names).map(load).collect());
        Ok(Self {
            stream: stream.clone(),
            kernels: kernels.collect::<Result<_, _>>()?,
            fastest: costs.fastest_plans::<T>(),
            pack: PACK.load(context)?.load_function(T::PACK)?,
            packed: RefCell::default(),
            n_sms,
        })
    }

    /// Enqueues the product on the stream.
    pub fn multiply<R: Output>(
        &self,
        product: &Product<'_, R>,
        a: &impl DevicePtr<T>,
        b: &impl DevicePtr<T>,
        c: &mut impl DevicePtrMut<R>,
    ) -> Result<(), Error>
    where
        T: To<R>,
    {
        self.multiply_by(product, None, a, b, c)
    }

    /// Enqueues the product by a plan of the caller's choice, of [`Factor::PLANS`], or else by that of the least
    /// expected time.
    ///
    /// # Panics
    /// Panics if there is no such plan.
    pub fn multiply_by<R: Output>(
        &self,
        product: &Product<'_, R>,
        plan: Option<usize>,
        a: &impl DevicePtr<T>,
        b: &impl DevicePtr<T>,
        c: &mut impl DevicePtrMut<R>,
    ) -> Result<(), Error>
    where
        T: To<R>,
    {
        let Shape { m, n, .. } = product.shape;
        let more = [
            ("the old C", m, n, product.old.map_or(m.saturating_mul(n), CudaSlice::len)),
            ("bias", 1, n, product.bias.map_or(n, CudaSlice::len)),
        ];
        check(product.shape, [a.len(), b.len(), c.len()], &more, T::LINE)?;
        let (a, _reading_a) = a.device_ptr(&self.stream);
        let (b, _reading_b) = b.device_ptr(&self.stream);
        let (c, _writing_c) = c.device_ptr_mut(&self.stream);
        let old = product.old.map(|old| old.device_ptr(&self.stream));
        let bias = product.bias.map(|bias| bias.device_ptr(&self.stream));
        let operands = operands::<T, R>(product, [a, b]);
        let c = Matrix { address: c, rows: m, cols: n, pitch: n, element: R::ELEMENT };
        let plan = plan.unwrap_or_else(|| self.choose(product, operands, c));
        let mut packed = self.packed.borrow_mut();
        let mut matrices = operands.map(|operand| operand.matrix);
        for (i, operand) in operands.into_iter().enumerate() {
            if !operand.is_ready() {
                matrices[i] = self.pack(operand, &mut packed[i])?;
            }
        }
        let epilogue = Epilogue {
            alpha: product.alpha,
            beta: product.beta,
            bias: bias.as_ref().map_or(0, |(address, _)| *address),
            activation: product.activation,
        };
        let old = old.as_ref().map_or(c.address, |(address, _)| *address);
        self.launch(product, plan, epilogue, matrices, old, c)
    }

    /// Returns the [places](Costs::clusters_at_once) of this device.
    pub fn clusters_at_once(&self) -> Result<BTreeMap<u32, usize>, Error> {
        let mut found = BTreeMap::new();
        for (plan, kernel) in T::PLANS.iter().zip(&self.kernels[0]) {
            let config = plan.launch(Shape::square(1), self.n_sms);
            let places = kernel.function.occupancy_max_active_clusters(config, &self.stream)?;
            let most: &mut usize = found.entry(plan.cluster()).or_default();
            *most = (*most).max((places / plan.per_sm) as usize);
        }
        Ok(found)
    }

    // ANCHOR: choose
    /// Returns all plans that can do a product, with the microseconds that are expected of each.
    fn choices<R: Output>(
        &self,
        product: &Product<'_, R>,
        operands: [Operand; 2],
        c: Matrix,
    ) -> impl Iterator<Item = (usize, f64)> {
        let (anywhere, fused) = (!c.can_be_mapped(), product.needs_epilogue());
        let can = move |plan: &Plan| (plan.anywhere || !anywhere) && (plan.fused || !fused);
        let all = T::PLANS.iter().enumerate().filter(move |(_, plan)| can(plan));
        let work = Work {
            shape: product.shape,
            factor_bytes: size_of::<T>(),
            result_bytes: size_of::<R>(),
            b_by_k: T::B_BY_K,
            packed: operands.map(|operand| !operand.is_ready()),
        };
        let kernels = &self.kernels[list_of::<T, R>(product)];
        all.map(move |(i, plan)| {
            let cost = |constants| expected(&constants, &terms(plan, &work, kernels[i].at_once));
            (i, kernels[i].constants.map_or(f64::INFINITY, cost))
        })
    }

    fn choose<R: Output>(&self, product: &Product<'_, R>, operands: [Operand; 2], c: Matrix) -> usize {
        let Shape { m, n, k } = product.shape;
        let known = self.fastest.get(&[m, n, k]).map(|plans| plans[list_of::<T, R>(product)]);
        let known = known.filter(|_| operands.iter().all(|operand| operand.layout == Layout::AsIs));
        let all = || self.choices(product, operands, c);
        let known = known.filter(|known| all().any(|(plan, _)| plan == *known));
        let least = || all().min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(plan, _)| plan);
        known.or_else(least).expect("some plans store any C, with any epilogue")
    }
    // ANCHOR_END: choose

    /// Returns all plans that can do a product of matrices that are stored row after row without gaps, with the
    /// microseconds that are expected of each.
    pub fn possible_plans<R: Output>(&self, product: &Product<'_, R>) -> Vec<(usize, f64)> {
        self.choices(product, operands::<T, R>(product, [0; 2]), without_gaps(product)).collect()
    }

    /// Returns the plan of such a product.
    pub fn choice<R: Output>(&self, product: &Product<'_, R>) -> usize {
        self.choose(product, operands::<T, R>(product, [0; 2]), without_gaps(product))
    }

    /// Returns a copy of an operand, row-major with rows that start on lines of L2.
    fn pack(&self, operand: Operand, scratch: &mut Scratch<T>) -> Result<Matrix, Error> {
        const THREADS: (u32, u32, u32) = (32, 8, 1);
        let Matrix { address, rows, cols, .. } = operand.matrix;
        let copy = scratch.copy_of(operand.matrix, T::LINE, &self.stream)?;
        let [n_rows, n_cols, n_pitch] = [rows, cols, copy.pitch].map(to_i32);
        let turned = i32::from(operand.layout == Layout::Transposed);
        let line = T::LINE as u32;
        let mut arguments = [
            argument(&n_rows),
            argument(&n_cols),
            argument(&n_pitch),
            argument(&turned),
            argument(&address),
            argument(&copy.address),
        ];
        let config = LaunchConfig {
            grid_dim: (blocks(copy.pitch, line) * blocks(rows, line), 1, 1),
            block_dim: THREADS,
            shared_mem_bytes: 0,
        };
        // SAFETY: the arguments are what the kernel takes, and it waits for earlier launches; the operand has rows *
        // cols elements, and the copy rows * pitch.
        unsafe { dependent::launch(&self.stream, &self.pack, config, &mut arguments) }?;
        Ok(copy)
    }

    fn launch<R: Output>(
        &self,
        product: &Product<'_, R>,
        plan: usize,
        epilogue: Epilogue,
        [a, b]: [Matrix; 2],
        old: CUdeviceptr,
        c: Matrix,
    ) -> Result<(), Error> {
        let (plan, kernel) = (&T::PLANS[plan], &self.kernels[list_of::<T, R>(product)][plan].function);
        let [rows_of_a, rows_of_b, rows_of_c] = plan.box_rows(T::B_BY_K);
        let shape = product.shape;
        let [m, n, k] = [shape.m, shape.n, shape.k].map(to_i32);
        let a_map = a.map(rows_of_a, T::LINE as u32, Swizzle::ByRow)?;
        let b_map = b.map(rows_of_b, T::LINE as u32, Swizzle::ByRow)?;
        let row = ROW_BYTES / size_of::<R>() as u32;
        // Kernels that store C from registers take a map, and do not read it.
        let c_map: TensorMap = if plan.anywhere { a_map } else { c.map(rows_of_c, row, Swizzle::ByRow)? };
        let mut arguments = [
            argument(&m),
            argument(&n),
            argument(&k),
            argument(&epilogue),
            argument(&a_map),
            argument(&b_map),
            argument(&c_map),
            argument(&old),
            argument(&c.address),
        ];
        let config = plan.launch(shape, self.n_sms);
        // SAFETY: the arguments are what the kernel takes, and it waits for earlier launches; the operands were
        // checked, and maps end with their matrices.
        unsafe { dependent::launch(&self.stream, kernel, config, &mut arguments) }?;
        Ok(())
    }
}

/// Returns the name of a plan's kernel of one [kind](Factor::KINDS) for C of one type.
fn kernel_name(kind: &str, plan: &Plan, suffix: &str) -> String {
    format!("gemm_v12_{kind}{}_{suffix}", plan.name)
}

/// Returns kinds of sums and types of C of a type's kernels.
fn lists<T: Factor>() -> impl Iterator<Item = (&'static str, &'static str)> {
    T::KINDS.iter().flat_map(|kind| T::RESULTS.iter().map(move |(suffix, _)| (*kind, *suffix)))
}

/// Returns a C that is stored row after row.
fn without_gaps<R: Output>(product: &Product<'_, R>) -> Matrix {
    let Shape { m, n, .. } = product.shape;
    Matrix { address: 0, rows: m, cols: n, pitch: n, element: R::ELEMENT }
}

/// Returns the names of a type's kernels: for each kind and type of C, those of all plans.
pub fn kernel_names<T: Factor>() -> Vec<Vec<String>> {
    let of = |(kind, suffix)| T::PLANS.iter().map(|plan| kernel_name(kind, plan, suffix)).collect();
    lists::<T>().map(of).collect()
}

/// Returns the list of [`kernel_names`] that has a product's kernels.
pub fn list_of<T: Factor, R: Output>(product: &Product<'_, R>) -> usize {
    let kind = if product.fast_sums { T::KINDS.len() - 1 } else { 0 };
    kind * T::RESULTS.len() + R::INDEX
}

/// Returns A and B as kernels read them.
pub(crate) fn operands<T: Factor, R>(product: &Product<'_, R>, [a, b]: [CUdeviceptr; 2]) -> [Operand; 2] {
    let Shape { m, n, k } = product.shape;
    let (size_of_b, layout_of_b) = match (T::B_BY_K, product.b) {
        (false, layout) => ([k, n], layout),
        (true, Layout::AsIs) => ([n, k], Layout::Transposed),
        (true, Layout::Transposed) => ([n, k], Layout::AsIs),
    };
    [Operand::new(T::ELEMENT, a, [m, k], product.a), Operand::new(T::ELEMENT, b, size_of_b, layout_of_b)]
}

//! A GEMM library: chooses a plan for each product, and launches its kernel.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig,
};
use harness::dependent::argument;
pub use harness::library::Error;
use harness::library::{self, Operand, Scratch, check};
pub use harness::map::Layout;
use harness::map::{Element, Matrix, Swizzle, TensorMap};
use harness::{Bf16, KernelSource, Shape, blocks, code, dependent, to_i32};
use serde::{Deserialize, Serialize};

use crate::plans::{DEPTH, LINE, PLANS, Plan, ROW_BYTES, TERMS, Work, expected, terms};

const KERNELS: KernelSource = code!("v12_gemm");
const PACK: KernelSource = code!("v12_pack");

/// An element of C.
pub trait Output: DeviceRepr {
    const ELEMENT: Element;
    /// End of the names of its kernels.
    const SUFFIX: &'static str;
    /// Place of its kernels among those of both types.
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
        }
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

/// A plan for a product, and the operands that are copied for it first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Index in [`PLANS`].
    pub plan: usize,
    pub packed: [bool; 2],
    /// Expected microseconds.
    pub expected: f64,
}

/// Measurements (`cargo xtask tune v12`) by which plans are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    pub device: String,
    pub driver: String,
    pub date: String,
    /// Clusters that have a place at a time, with one block on a multiprocessor, by the number of their blocks: groups
    /// of multiprocessors are not all multiples of a cluster.
    pub clusters_at_once: BTreeMap<u32, usize>,
    /// Microseconds of each of the [`terms`], by kernel.
    pub kernels: BTreeMap<String, [f64; TERMS]>,
    /// The fastest kernels of usual sizes, by shape: of several that are near each other, the terms may name another.
    pub fastest: BTreeMap<String, [String; 2]>,
}

impl Costs {
    pub fn committed() -> Self {
        serde_json::from_str(include_str!("../data/costs.json")).expect("a test reads it")
    }

    /// Returns how many clusters of a plan have a place at a time.
    pub fn at_once(&self, plan: &Plan) -> usize {
        self.clusters_at_once.get(&plan.cluster()).copied().unwrap_or(1)
    }

    /// Returns the plans of the [`fastest`](Self::fastest) kernels.
    fn fastest_plans(&self) -> HashMap<[usize; 3], [usize; 2]> {
        let place = |name: &String, suffix| PLANS.iter().position(|plan| kernel_name(plan, suffix) == *name);
        let plans = |(shape, [fp32, bf16]): (&String, &[String; 2])| {
            let sizes: Vec<_> = shape.split('x').filter_map(|size| size.parse().ok()).collect();
            Some((sizes.try_into().ok()?, [place(fp32, f32::SUFFIX)?, place(bf16, Bf16::SUFFIX)?]))
        };
        self.fastest.iter().filter_map(plans).collect()
    }
}

/// The kernels, loaded, for products in one stream, where they may share the memory for packed operands.
#[derive(Debug)]
pub struct Gemm {
    stream: Arc<CudaStream>,
    /// Kernels of [`PLANS`] with C in FP32, and in bf16.
    kernels: [Vec<PlanKernel>; 2],
    /// Plans of usual sizes, by M, N and K, for both.
    fastest: HashMap<[usize; 3], [usize; 2]>,
    pack: CudaFunction,
    packed: RefCell<[Scratch<Bf16>; 2]>,
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

impl Gemm {
    pub fn load(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let context = stream.context();
        let n_sms = library::count_sms(context)?;
        let module = KERNELS.load(context)?;
        let costs = Costs::committed();
        let kernels = |suffix: &str| -> Result<Vec<PlanKernel>, DriverError> {
            let kernels = PLANS.iter().map(|plan| {
                let name = kernel_name(plan, suffix);
                let bytes = plan.launch(Shape::square(1), n_sms).shared_mem_bytes;
                let function = library::load_kernel(&module, &name, bytes)?;
                let constants = costs.kernels.get(&name).copied();
                Ok(PlanKernel { function, at_once: costs.at_once(plan), constants })
            });
            kernels.collect()
        };
        Ok(Self {
            stream: stream.clone(),
            kernels: [kernels(f32::SUFFIX)?, kernels(Bf16::SUFFIX)?],
            fastest: costs.fastest_plans(),
            pack: PACK.load(context)?.load_function("pack_v12")?,
            packed: RefCell::default(),
            n_sms,
        })
    }

    /// Enqueues the product on the stream.
    pub fn multiply<R: Output>(
        &self,
        product: &Product<'_, R>,
        a: &impl DevicePtr<Bf16>,
        b: &impl DevicePtr<Bf16>,
        c: &mut impl DevicePtrMut<R>,
    ) -> Result<(), Error> {
        self.multiply_by(product, None, a, b, c)
    }

    /// Enqueues the product by a plan of the caller's choice, or else by that of the least expected time.
    ///
    /// # Panics
    /// Panics if there is no such plan.
    pub fn multiply_by<R: Output>(
        &self,
        product: &Product<'_, R>,
        choice: Option<Choice>,
        a: &impl DevicePtr<Bf16>,
        b: &impl DevicePtr<Bf16>,
        c: &mut impl DevicePtrMut<R>,
    ) -> Result<(), Error> {
        let Shape { m, n, k } = product.shape;
        let more = [
            ("the old C", m, n, product.old.map_or(m.saturating_mul(n), CudaSlice::len)),
            ("bias", 1, n, product.bias.map_or(n, CudaSlice::len)),
        ];
        check(product.shape, [a.len(), b.len(), c.len()], &more, LINE)?;
        let (a, _reading_a) = a.device_ptr(&self.stream);
        let (b, _reading_b) = b.device_ptr(&self.stream);
        let (c, _writing_c) = c.device_ptr_mut(&self.stream);
        let old = product.old.map(|old| old.device_ptr(&self.stream));
        let bias = product.bias.map(|bias| bias.device_ptr(&self.stream));
        let operands = [operand(a, [m, k], product.a), operand(b, [k, n], product.b)];
        let c = Matrix { address: c, rows: m, cols: n, pitch: n, element: R::ELEMENT };
        let choice = choice.unwrap_or_else(|| self.choose(product, operands, c));
        let mut packed = self.packed.borrow_mut();
        let mut matrices = operands.map(|operand| operand.matrix);
        for (i, operand) in operands.into_iter().enumerate() {
            if choice.packed[i] {
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
        self.launch::<R>(product.shape, choice.plan, epilogue, matrices, old, c)
    }

    /// Returns the [places](Costs::clusters_at_once) of this device.
    pub fn clusters_at_once(&self) -> Result<BTreeMap<u32, usize>, Error> {
        let mut found = BTreeMap::new();
        for (plan, kernel) in PLANS.iter().zip(&self.kernels[0]) {
            let config = plan.launch(Shape::square(1), self.n_sms);
            let places = kernel.function.occupancy_max_active_clusters(config, &self.stream)?;
            let most: &mut usize = found.entry(plan.cluster()).or_default();
            *most = (*most).max((places / plan.per_sm) as usize);
        }
        Ok(found)
    }

    // ANCHOR: choose
    /// Returns all plans that can do a product, with the time that is expected of each.
    fn choices<R: Output>(
        &self,
        product: &Product<'_, R>,
        operands: [Operand; 2],
        c: Matrix,
    ) -> impl Iterator<Item = Choice> {
        let packed = operands.map(|operand| !operand.is_ready());
        let (anywhere, fused) = (!c.can_be_mapped(), product.needs_epilogue());
        let can = move |plan: &Plan| (plan.anywhere || !anywhere) && (plan.fused || !fused);
        let all = PLANS.iter().enumerate().filter(move |(_, plan)| can(plan));
        let work = Work { shape: product.shape, result_bytes: size_of::<R>(), packed };
        all.map(move |(i, plan)| {
            let kernel = &self.kernels[R::INDEX][i];
            let cost = |constants| expected(&constants, &terms(plan, &work, kernel.at_once));
            let expected = kernel.constants.map_or(f64::INFINITY, cost);
            Choice { plan: i, packed, expected }
        })
    }

    fn choose<R: Output>(&self, product: &Product<'_, R>, operands: [Operand; 2], c: Matrix) -> Choice {
        let Shape { m, n, k } = product.shape;
        let known = self.fastest.get(&[m, n, k]).map(|plans| plans[R::INDEX]);
        let is_known = |choice: &Choice| choice.packed == [false; 2] && known == Some(choice.plan);
        let all = || self.choices(product, operands, c);
        let least = || all().min_by(|a, b| a.expected.total_cmp(&b.expected));
        let known = known.and_then(|_| all().find(is_known));
        known.or_else(least).expect("some plans store any C, with any epilogue")
    }
    // ANCHOR_END: choose

    /// Returns all choices for a plain product of matrices that are stored row after row without gaps.
    pub fn all_choices<R: Output>(&self, shape: Shape) -> Vec<Choice> {
        let Shape { m, n, k } = shape;
        let operands = [operand(0, [m, k], Layout::AsIs), operand(0, [k, n], Layout::AsIs)];
        let c = Matrix { address: 0, rows: m, cols: n, pitch: n, element: R::ELEMENT };
        self.choices(&Product::<R>::new(shape), operands, c).collect()
    }

    /// Returns a copy of an operand, row-major with rows that start on lines of L2.
    fn pack(&self, operand: Operand, scratch: &mut Scratch<Bf16>) -> Result<Matrix, Error> {
        const TILE: u32 = 64;
        const THREADS: (u32, u32, u32) = (32, 8, 1);
        let Matrix { address, rows, cols, .. } = operand.matrix;
        let copy = scratch.copy_of(operand.matrix, LINE, &self.stream)?;
        let [n_rows, n_cols, n_pitch] = [rows, cols, copy.pitch].map(to_i32);
        let turned = i32::from(operand.layout == Layout::Transposed);
        let mut arguments = [
            argument(&n_rows),
            argument(&n_cols),
            argument(&n_pitch),
            argument(&turned),
            argument(&address),
            argument(&copy.address),
        ];
        let config = LaunchConfig {
            grid_dim: (blocks(copy.pitch, TILE), blocks(rows, TILE), 1),
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
        shape: Shape,
        plan: usize,
        epilogue: Epilogue,
        [a, b]: [Matrix; 2],
        old: CUdeviceptr,
        c: Matrix,
    ) -> Result<(), Error> {
        let (plan, kernel) = (&PLANS[plan], &self.kernels[R::INDEX][plan].function);
        let [rows_of_a, rows_of_b, rows_of_c] = plan.box_rows();
        let [m, n, k] = [shape.m, shape.n, shape.k].map(to_i32);
        let a_map = a.map(rows_of_a, DEPTH, Swizzle::ByRow)?;
        let b_map = b.map(rows_of_b, DEPTH, Swizzle::ByRow)?;
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

/// Returns the name of a plan's kernel for C of one type.
pub fn kernel_name(plan: &Plan, suffix: &str) -> String {
    format!("gemm_v12_{}_{suffix}", plan.name)
}

fn operand(address: CUdeviceptr, sizes: [usize; 2], layout: Layout) -> Operand {
    Operand::new(Element::Bf16, address, sizes, layout)
}

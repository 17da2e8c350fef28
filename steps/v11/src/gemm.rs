//! A GEMM library: chooses a plan for each product, and launches its kernel.

mod choice;

use std::cell::RefCell;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaFunction, CudaModule, CudaStream, DevicePtr, DevicePtrMut, DriverError, LaunchConfig,
};
use harness::dependent::{self, argument};
pub use harness::library::Error;
use harness::library::{self, Operand, Scratch, check};
use harness::{KernelSource, Shape, blocks, code, grid_1d, grid_of_tiles, to_i32};

pub use crate::gemm::choice::{Choice, Costs, PlanCosts, packed};
use crate::plans::{LARGE, PLANS, Plan, Source};
pub use harness::map::Layout;
use harness::map::{ALIGNED, Element, Matrix, Swizzle};

const RESCHEDULED: KernelSource = code!("v11_rescheduled");
const OTHERS: KernelSource = code!("v11_gemm");
const PACK: KernelSource = code!("v11_pack");

/// `C = alpha · op(A) · op(B) + beta · C`, all row-major.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    pub shape: Shape,
    pub alpha: f32,
    /// Factor of the old C. With 0, C is not read.
    pub beta: f32,
    pub a: Layout,
    pub b: Layout,
}

impl Product {
    pub const fn new(shape: Shape) -> Self {
        Self { shape, alpha: 1.0, beta: 0.0, a: Layout::AsIs, b: Layout::AsIs }
    }
}

/// The kernels, loaded, for products in one stream, where they may share the memory for partial sums.
#[derive(Debug)]
pub struct Sgemm {
    stream: Arc<CudaStream>,
    /// Kernels of [`PLANS`], then those that were added.
    kernels: Vec<(Plan, CudaFunction)>,
    /// Kernels that pack an operand: stored as it is, and transposed.
    pack: [CudaFunction; 2],
    packed: RefCell<[Scratch<f32>; 2]>,
    pub n_sms: usize,
    costs: Costs,
}

/// Returns a plan with its kernel, which may use as much shared memory as it needs.
fn load_kernel(module: &Arc<CudaModule>, plan: &Plan) -> Result<(Plan, CudaFunction), DriverError> {
    Ok((*plan, library::load_kernel(module, plan.entry, plan.shared())?))
}

impl Sgemm {
    pub fn load(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Self::of_modules(stream, |code| code.load(stream.context()))
    }

    /// Returns the kernels of modules that are made of these kernel files.
    pub fn of_modules(
        stream: &Arc<CudaStream>,
        module: impl Fn(&KernelSource) -> Result<Arc<CudaModule>, DriverError>,
    ) -> Result<Self, Error> {
        let n_sms = library::count_sms(stream.context())?;
        let (large, others, pack) = (module(&RESCHEDULED)?, module(&OTHERS)?, module(&PACK)?);
        let kernels = PLANS
            .iter()
            .map(|plan| {
                let module = if plan.entry == LARGE.entry { &large } else { &others };
                load_kernel(module, plan)
            })
            .collect::<Result<_, DriverError>>()?;
        Ok(Self {
            stream: stream.clone(),
            kernels,
            pack: [pack.load_function("pack_v11")?, pack.load_function("turn_v11")?],
            packed: RefCell::default(),
            n_sms,
            costs: Costs::committed(),
        })
    }

    /// Adds a kernel that is not in [`PLANS`], and returns its number for a [`Choice`].
    pub fn add(&mut self, plan: Plan, module: &Arc<CudaModule>) -> Result<usize, Error> {
        self.kernels.push(load_kernel(module, &plan)?);
        Ok(self.kernels.len() - 1)
    }

    /// Enqueues the product on the stream.
    pub fn multiply(
        &self,
        product: &Product,
        a: &impl DevicePtr<f32>,
        b: &impl DevicePtr<f32>,
        c: &mut impl DevicePtrMut<f32>,
    ) -> Result<(), Error> {
        self.multiply_by(product, None, a, b, c)
    }

    /// Enqueues the product by a plan of the caller's choice, or else by that of the least expected time.
    ///
    /// # Panics
    /// Panics if the plan does not take the operands as the choice leaves them.
    pub fn multiply_by(
        &self,
        product: &Product,
        choice: Option<Choice>,
        a: &impl DevicePtr<f32>,
        b: &impl DevicePtr<f32>,
        c: &mut impl DevicePtrMut<f32>,
    ) -> Result<(), Error> {
        let Shape { m, n, k } = product.shape;
        check(product.shape, [a.len(), b.len(), c.len()], &[], ALIGNED / size_of::<f32>())?;
        let (a, _reading_a) = a.device_ptr(&self.stream);
        let (b, _reading_b) = b.device_ptr(&self.stream);
        let (c, _writing_c) = c.device_ptr_mut(&self.stream);
        // Kernels store float4s where rows are whole float4s.
        if n.is_multiple_of(4) && !c.is_multiple_of(ALIGNED as u64) {
            return Err(Error::Misaligned(c));
        }
        let operand = |address, sizes, layout| Operand::new(Element::F32, address, sizes, layout);
        let operands = [operand(a, [m, k], product.a), operand(b, [k, n], product.b)];
        let choice =
            choice.unwrap_or_else(|| self.costs.choose(product.shape, operands.map(Form::of), self.n_sms));
        let mut packed = self.packed.borrow_mut();
        let mut matrices = operands.map(|operand| operand.matrix);
        for (i, operand) in operands.into_iter().enumerate() {
            if choice.packed[i] {
                matrices[i] = self.pack(operand, &mut packed[i])?;
            }
        }
        self.launch(product, &choice, matrices, c)
    }

    /// Returns a copy of an operand, row-major with rows on 16 bytes.
    fn pack(&self, operand: Operand, scratch: &mut Scratch<f32>) -> Result<Matrix, Error> {
        const ROWS: u32 = 32;
        const THREADS: (u32, u32, u32) = (32, 8, 1);
        let Matrix { address, rows, cols, .. } = operand.matrix;
        // The kernel writes all but the ends of rows, where no box reaches.
        let copy = scratch.copy_of(operand.matrix, ALIGNED / size_of::<f32>(), &self.stream)?;
        let [n_rows, n_cols, n_pitch] = [rows, cols, copy.pitch].map(to_i32);
        let (kernel, span) = match operand.layout {
            Layout::AsIs => (&self.pack[0], 128),
            Layout::Transposed => (&self.pack[1], 32),
        };
        let mut arguments = [
            argument(&n_rows),
            argument(&n_cols),
            argument(&n_pitch),
            argument(&address),
            argument(&copy.address),
        ];
        let config = LaunchConfig {
            grid_dim: (blocks(cols, span) * blocks(rows, ROWS), 1, 1),
            block_dim: THREADS,
            shared_mem_bytes: 0,
        };
        // SAFETY: the arguments are what the kernel takes, and it waits for earlier launches; the operand has rows *
        // cols elements, and the copy rows * pitch.
        unsafe { dependent::launch(&self.stream, kernel, config, &mut arguments) }?;
        Ok(copy)
    }

    fn launch(
        &self,
        product: &Product,
        choice: &Choice,
        [a, b]: [Matrix; 2],
        c: CUdeviceptr,
    ) -> Result<(), Error> {
        let Shape { m, n, k } = product.shape;
        let (plan, kernel) = &self.kernels[choice.plan];
        let [bm, bn, bk] = plan.tile;
        let shares =
            plan.shares(plan.tiles(m, n), plan.steps(k), choice.sharing, self.n_sms).expect("it was chosen");
        let grid = match plan.source {
            Source::Threads => grid_of_tiles(product.shape, [bm, bn], plan.threads()),
            Source::Boxes | Source::Words => grid_1d(blocks(shares.blocks, 1), plan.threads()),
        };
        let config = LaunchConfig { shared_mem_bytes: plan.shared(), ..grid };
        let (m, n, k, whole) = (to_i32(m), to_i32(n), to_i32(k), to_i32(shares.whole));
        let maps;
        let [a, b] = match plan.source {
            Source::Boxes => {
                maps = [a.map(bm, bk, Swizzle::ByRow)?, b.map(bk, bn, Swizzle::None)?];
                [argument(&maps[0]), argument(&maps[1])]
            }
            Source::Words | Source::Threads => {
                assert!(
                    a.pitch == a.cols && b.pitch == b.cols,
                    "these kernels read rows one behind the other"
                );
                [argument(&a.address), argument(&b.address)]
            }
        };
        let [alpha, beta] = [&product.alpha, &product.beta].map(argument);
        let mut arguments =
            [argument(&m), argument(&n), argument(&k), alpha, a, b, beta, argument(&c), argument(&whole)];
        // SAFETY: the arguments are what the kernel takes, and it waits for earlier launches; the operands were
        // checked, and maps end with their matrices.
        unsafe { dependent::launch(&self.stream, kernel, config, &mut arguments) }?;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Row-major with rows that start on 16 bytes: every plan reads it.
    Aligned,
    /// Row-major with rows that start anywhere.
    Anywhere,
    /// Stored transposed: no plan reads it before it is packed.
    Transposed,
}

impl Form {
    fn of(operand: Operand) -> Self {
        match operand.layout {
            Layout::Transposed => Self::Transposed,
            Layout::AsIs if operand.is_ready() => Self::Aligned,
            Layout::AsIs => Self::Anywhere,
        }
    }
}

//! A GEMM library: chooses a plan for each product, and launches its kernel.

mod choice;

use std::cell::RefCell;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::{
    CUdeviceptr, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
};
use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, LaunchConfig,
    PushKernelArg,
};
use harness::{KernelSource, Shape, StepError, blocks, code, grid_1d, grid_of_tiles, to_i32};

pub use crate::gemm::choice::{Choice, Costs, PlanCosts, packed};
use crate::plans::{PLANS, Plan, STREAM_K, Source};
pub use harness::map::Layout;
use harness::map::{ALIGNED, Element, Matrix, Swizzle};

const LARGE: KernelSource = code!("v11_stream_k");
const OTHERS: KernelSource = code!("v11_gemm");
const PACK: KernelSource = code!("v11_pack");
/// Capability that the machine code is compiled for.
const CAPABILITY: (i32, i32) = (9, 0);

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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("needs compute capability 9.0; this device has {}.{}", .0.0, .0.1)]
    Capability((i32, i32)),
    #[error("{0} is not a valid shape: M, N and K must be at least 1")]
    Empty(Shape),
    #[error("{operand} has {elements} elements; the kernels take fewer than 2147483648")]
    TooLarge { operand: char, elements: usize },
    #[error("{operand} needs {needed} elements for this shape, and has {there}")]
    TooShort { operand: char, needed: usize, there: usize },
    /// C has rows of whole float4s, and does not begin on 16 bytes.
    #[error("C begins at {0:#x}: with rows of whole float4s it has to begin on 16 bytes")]
    Misaligned(CUdeviceptr),
    #[error("{}", harness::describe(*.0))]
    Driver(#[from] DriverError),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::CouldNot(error.to_string())
    }
}

/// The kernels, loaded, for products in one stream, where they may share the memory for partial sums.
#[derive(Debug)]
pub struct Sgemm {
    stream: Arc<CudaStream>,
    /// Kernels of [`PLANS`], then those that were added.
    kernels: Vec<(Plan, CudaFunction)>,
    pack: CudaFunction,
    /// Copies of A and B in the layout that kernels read, kept for the next product.
    packed: RefCell<[Option<CudaSlice<f32>>; 2]>,
    pub n_sms: usize,
    costs: Costs,
}

/// Returns a plan with its kernel, which may use as much shared memory as it needs.
fn load_kernel(module: &Arc<CudaModule>, plan: &Plan) -> Result<(Plan, CudaFunction), DriverError> {
    let kernel = module.load_function(plan.entry)?;
    let shared = plan.shared().cast_signed();
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)?;
    Ok((*plan, kernel))
}

impl Sgemm {
    pub fn load(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let context = stream.context();
        let capability = context.compute_capability()?;
        if capability != CAPABILITY {
            return Err(Error::Capability(capability));
        }
        let (large, others) = (LARGE.load(context)?, OTHERS.load(context)?);
        let kernels = PLANS
            .iter()
            .map(|plan| {
                let module = if plan.entry == STREAM_K.entry { &large } else { &others };
                load_kernel(module, plan)
            })
            .collect::<Result<_, DriverError>>()?;
        let n_sms = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Self {
            stream: stream.clone(),
            kernels,
            pack: PACK.load(context)?.load_function("pack_v11")?,
            packed: RefCell::default(),
            n_sms: usize::try_from(n_sms).unwrap_or(1),
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
        check(product.shape, [a.len(), b.len(), c.len()])?;
        let (a, _reading_a) = a.device_ptr(&self.stream);
        let (b, _reading_b) = b.device_ptr(&self.stream);
        let (c, _writing_c) = c.device_ptr_mut(&self.stream);
        // Kernels store float4s where rows are whole float4s.
        if n.is_multiple_of(4) && !c.is_multiple_of(ALIGNED as u64) {
            return Err(Error::Misaligned(c));
        }
        let operands = [Operand::new(a, [m, k], product.a), Operand::new(b, [k, n], product.b)];
        let choice = choice
            .unwrap_or_else(|| self.costs.choose(product.shape, operands.map(Operand::form), self.n_sms));
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
    fn pack(&self, operand: Operand, room: &mut Option<CudaSlice<f32>>) -> Result<Matrix, Error> {
        const TILE: u32 = 32;
        const ROWS: u32 = 8;
        let Matrix { address, rows, cols, .. } = operand.matrix;
        let pitch = cols.next_multiple_of(ALIGNED / size_of::<f32>());
        if room.as_ref().is_none_or(|room| room.len() < rows * pitch) {
            // SAFETY: the kernel writes what is read: all but the ends of rows, where no box reaches.
            *room = Some(unsafe { self.stream.alloc(rows * pitch) }?);
        }
        let room = room.as_mut().expect("it was made above");
        let (to, _writing) = room.device_ptr_mut(&self.stream);
        let (n_rows, n_cols, n_pitch) = (to_i32(rows), to_i32(cols), to_i32(pitch));
        let transposed = i32::from(operand.layout == Layout::Transposed);
        let mut launch = self.stream.launch_builder(&self.pack);
        launch.arg(&n_rows).arg(&n_cols).arg(&n_pitch).arg(&transposed).arg(&address).arg(&to);
        let config = LaunchConfig {
            grid_dim: (blocks(cols, TILE), blocks(rows, TILE), 1),
            block_dim: (TILE, ROWS, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the arguments are what the kernel takes; the operand has rows * cols elements, the copy rows * pitch.
        unsafe { launch.launch(config) }?;
        Ok(Matrix { address: to, rows, cols, pitch, element: Element::F32 })
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
        let mut launch = self.stream.launch_builder(kernel);
        launch.arg(&m).arg(&n).arg(&k).arg(&product.alpha);
        let maps;
        match plan.source {
            Source::Boxes => {
                maps = [a.map(bm, bk, Swizzle::ByRow)?, b.map(bk, bn, Swizzle::None)?];
                launch.arg(&maps[0]).arg(&maps[1]);
            }
            Source::Words | Source::Threads => {
                assert!(
                    a.pitch == a.cols && b.pitch == b.cols,
                    "these kernels read rows one behind the other"
                );
                launch.arg(&a.address).arg(&b.address);
            }
        }
        launch.arg(&product.beta).arg(&c).arg(&whole);
        // SAFETY: the arguments are what the kernel takes, the operands were checked, and maps end with their matrices.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
struct Operand {
    /// The operand of the product: of a transposed one, what its copy will be.
    matrix: Matrix,
    layout: Layout,
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

impl Operand {
    fn new(address: CUdeviceptr, [rows, cols]: [usize; 2], layout: Layout) -> Self {
        let matrix = Matrix { address, rows, cols, pitch: cols, element: Element::F32 };
        Self { matrix, layout }
    }

    fn form(self) -> Form {
        match self.layout {
            Layout::Transposed => Form::Transposed,
            Layout::AsIs if self.matrix.can_be_mapped() => Form::Aligned,
            Layout::AsIs => Form::Anywhere,
        }
    }
}

/// Fails unless kernels can index this product, and the slices hold it.
fn check(shape: Shape, lengths: [usize; 3]) -> Result<(), Error> {
    const MAX_ELEMENTS: usize = i32::MAX as usize;
    let Shape { m, n, k } = shape;
    if m == 0 || n == 0 || k == 0 {
        return Err(Error::Empty(shape));
    }
    let sizes = [('A', m, k), ('B', k, n), ('C', m, n)];
    for ((operand, rows, cols), there) in sizes.into_iter().zip(lengths) {
        // Packed, a row may be three floats longer.
        let needed = rows.saturating_mul(cols);
        if rows.saturating_mul(cols.saturating_add(ALIGNED)) > MAX_ELEMENTS {
            return Err(Error::TooLarge { operand, elements: needed });
        }
        if there < needed {
            return Err(Error::TooShort { operand, needed, there });
        }
    }
    Ok(())
}

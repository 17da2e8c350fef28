//! Tensor maps of a trial's matrices. Their names are those of [`LaunchSetup`](crate::emulated_module::LaunchSetup).

use catalog::{Format, Shape};
use program::tensor::{Element, Fill, Swizzle, TensorMap, TensorMapArguments};
use reference::inputs::Accumulator;
use simt::gpu::Argument;
use tasks::TaskWork;

use crate::trial::Trial;

/// Returns the map of this name, of one of the buffers of a launch.
pub(crate) fn tensor_map<T: Accumulator>(
    trial: &Trial<T>, work: TaskWork, buffers: &[u64], name: &str,
) -> Result<Argument, String> {
    let wrong = || format!("`{name}` is no tensor map such as A:64x128/128, of A, B or C");
    let (matrix, boxes) = name.split_once(':').ok_or_else(wrong)?;
    let Some(reference::Argument::Buffer(at)) = trial.argument(matrix) else { return Err(wrong()) };
    let (size, swizzle) = boxes.split_once('/').unwrap_or((boxes, "0"));
    let (cols, rows) = size.split_once('x').ok_or_else(wrong)?;
    let [box_cols, box_rows] = [cols, rows].map(|n| n.parse::<u32>().ok());
    let Shape { m, n, k } = trial.shape;
    let ([a_is_turned, b_is_turned], operands) = (work.transposed(), work.operands());
    let ([rows, cols], is_turned) = match matrix {
        "A" => ([m, k], a_is_turned),
        "B" => ([k, n], b_is_turned),
        _ => ([m, n], false),
    };
    let [rows, cols] = if is_turned { [cols, rows] } else { [rows, cols] };
    let element = match operands {
        Format::Bf16 if matrix != "C" => Element::Bf16,
        Format::E4m3 if matrix != "C" => Element::U8,
        Format::Tf32 if matrix != "C" => Element::Tf32,
        _ => Element::F32,
    };
    let swizzles = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
    let map = TensorMap::new(TensorMapArguments {
        address: buffers.get(at).copied().unwrap_or_default(),
        element,
        dims: &[cols as u64, rows as u64],
        strides: &[cols as u64 * element.bytes()],
        box_dims: &[box_cols.ok_or_else(wrong)?, box_rows.ok_or_else(wrong)?],
        steps: &[1, 1],
        swizzle: swizzles.into_iter().find(|known| known.span().to_string() == swizzle).ok_or_else(wrong)?,
        fill: Fill::Zeros,
    });
    Ok(Argument(map.map_err(|rule| format!("the tensor map `{name}`: {rule}"))?.encode().to_vec()))
}

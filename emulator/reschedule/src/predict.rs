//! The time of the main loop by the model of an SM.

use sass::instruction::Control;
use sass::operation::Operation;
use timing::{Access, Block, Chip, Instruction, Reach, Setting, Step, Trace, Unit, simulate};

use crate::code::Line;
use crate::flow::{Flow, Regions};
use crate::{Refusal, read};

/// One pass of the main loop by all warps of an SM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassTime {
    pub clocks: f64,
    /// Clocks for which multiply-adds are issued, of one scheduler.
    pub multiply_adds: f64,
}

/// Predicts the time of a pass of a kernel's main loop, for a number of warps on an SM and the wavefronts of loads: of
/// the rows' factors, and of the columns'. It waits for no copies.
pub fn pass_time(cubin: &[u8], kernel: &str, warps: usize, wavefronts: [u16; 2]) -> Result<PassTime, Refusal> {
    let (_, lines) = read(cubin, kernel)?;
    let body = &lines[Regions::find(&lines)?.body];
    let program: Vec<Instruction> = body.iter().map(instruction).collect();
    let flow = Flow::read(body)?;
    let access = |at: usize| {
        let Some(load) = flow.loads.iter().position(|&other| other == at) else { return Access::None };
        let is_of_row = flow.a.iter().flatten().any(|&other| other == load);
        Access::Shared { wavefronts: wavefronts[usize::from(!is_of_row)] }
    };
    let pass: Vec<Step> = (0..body.len()).map(|at| Step { instruction: at as u32, access: access(at) }).collect();
    let clocks = |passes: usize| {
        let warp = Trace { steps: pass.repeat(passes), sectors: Vec::new() };
        let block = Block { warps: vec![warp; warps] };
        let reach = Reach::default();
        let setting = Setting { resident: 1, shared: 0, active_sms: 1, load: 1.0, reach: &reach, window: None };
        simulate(Chip::h200(), &program, &[&block], setting).clocks as f64
    };
    const PASSES: usize = 8;
    const SCHEDULERS: f64 = 4.0;
    let n_ffma = body.iter().filter(|line| line.is(Operation::Ffma)).count();
    Ok(PassTime {
        clocks: (clocks(2 * PASSES) - clocks(PASSES)) / PASSES as f64,
        multiply_adds: (n_ffma * warps) as f64 / SCHEDULERS,
    })
}

/// An instruction without a decoder is one of barriers: it reads no register that matters for time.
fn instruction(line: &Line) -> Instruction {
    line.instruction.as_ref().map_or_else(
        || {
            let control = Control {
                stall: line.stall(),
                write_barrier: line.write_barrier(),
                wait: line.wait(),
                ..Control::default()
            };
            Instruction { unit: Unit::Slow, sources: [None; 3], bytes: 4, control }
        },
        Instruction::from,
    )
}

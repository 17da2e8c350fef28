//! Special registers: values known before a warp starts, and values read when the instruction runs.

use super::PtxLowering;
use crate::error::Result;
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::operands::clock_class;
use program::{Axis, Clock, OpKind, RESERVED, SHARED_BASE, Special};

#[derive(Debug, Clone, Copy)]
pub(super) enum SpecialSource {
    /// A value known before a warp starts.
    Line(Special),
    /// A value read when the instruction runs.
    Clock(Clock),
    /// A constant of all threads of all launches.
    Number(u32),
    /// Offset in the shared memory that the system reserves.
    Reserved(u32),
    /// Known to PTX, not supported.
    Refused,
}

pub(super) fn find(name: &str) -> Option<SpecialSource> {
    use Special::*;
    use SpecialSource::{Line, Number};
    // Components x, y and z, and the constant w.
    if let Some((base, component)) = name.split_once('.') {
        let (vector, w): (fn(Axis) -> Special, u32) = match base {
            "%tid" => (Tid, 0),
            "%ntid" => (Ntid, 1),
            "%ctaid" => (Ctaid, 0),
            "%nctaid" => (Nctaid, 1),
            "%clusterid" => (Clusterid, 0),
            "%nclusterid" => (Nclusterid, 1),
            "%cluster_ctaid" => (ClusterCtaid, 0),
            "%cluster_nctaid" => (ClusterNctaid, 1),
            _ => return None,
        };
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == component);
        return axis.map(|axis| Line(vector(axis))).or_else(|| (component == "w").then_some(Number(w)));
    }
    Some(match name {
        "%cluster_ctarank" => Line(ClusterCtarank),
        "%cluster_nctarank" => Line(ClusterNctarank),
        "%is_explicit_cluster" => Line(IsExplicitCluster),
        "%laneid" => Line(LaneId),
        "%warpid" => Line(WarpId),
        "%nwarpid" => Line(NwarpId),
        "%smid" => Line(SmId),
        "%nsmid" => Line(NsmId),
        "%gridid" => Line(GridId),
        "%lanemask_eq" => Line(LanemaskEq),
        "%lanemask_le" => Line(LanemaskLe),
        "%lanemask_lt" => Line(LanemaskLt),
        "%lanemask_ge" => Line(LanemaskGe),
        "%lanemask_gt" => Line(LanemaskGt),
        "%dynamic_smem_size" => Line(DynamicSharedBytes),
        "%total_smem_size" | "%aggr_smem_size" => Line(TotalSharedBytes),
        "%envreg1" => Line(EnvReg1),
        "%envreg2" => Line(EnvReg2),
        "%reserved_smem_offset_begin" => Number(0),
        "%reserved_smem_offset_end" => Number(RESERVED.1),
        "%reserved_smem_offset_cap" => Number(SHARED_BASE),
        "%reserved_smem_offset_1" => SpecialSource::Reserved(RESERVED.0),
        "%clock" => SpecialSource::Clock(Clock::Clock),
        "%clock_hi" => SpecialSource::Clock(Clock::ClockHi),
        "%clock64" => SpecialSource::Clock(Clock::Clock64),
        "%globaltimer" => SpecialSource::Clock(Clock::GlobalTimer),
        "%globaltimer_lo" => SpecialSource::Clock(Clock::GlobalTimerLo),
        "%globaltimer_hi" => SpecialSource::Clock(Clock::GlobalTimerHi),
        "%current_graph_exec" | "%tid" | "%ntid" | "%ctaid" | "%nctaid" => SpecialSource::Refused,
        _ if ["%envreg", "%pm", "%reserved_smem_offset"].iter().any(|p| name.starts_with(p)) => SpecialSource::Refused,
        _ => return None,
    })
}

impl PtxLowering<'_> {
    pub(super) fn special(&mut self, found: SpecialSource, name: &str, class: Class) -> Result<Src> {
        let value = match found {
            SpecialSource::Line(special) => {
                let registers = &mut self.registers;
                *self.specials.entry(special).or_insert_with(|| registers.fresh(Class::Bits32)) as Src
            }
            SpecialSource::Clock(clock) => {
                let own = clock_class(clock);
                let dst = self.registers.fresh(own);
                self.emit(OpKind::ReadClock { clock, dst })?;
                if own == Class::Bits64 {
                    return match class {
                        Class::Bits64 => Ok(dst as Src),
                        _ => Err(self.invalid(format!("`{name}` is 64 bits wide"))),
                    };
                }
                dst as Src
            }
            SpecialSource::Reserved(offset) => {
                self.reserved_shared = true;
                refuse_if!(class == Class::Pred, self.invalid(format!("`{name}` is not a predicate")));
                return self.constants.shared_address(offset.into(), class, self.span);
            }
            SpecialSource::Number(value) => return self.constant(u64::from(value), class),
            SpecialSource::Refused => return Err(self.unsupported(format!("the special register `{name}`"))),
        };
        match class {
            Class::Bits32 => Ok(value),
            // `%gridid` may be read as 64 bits; others once had 16 bits and never 64.
            Class::Bits64 => self.value(Builtin::Zext64(32), &[value]),
            Class::Pred if name == "%is_explicit_cluster" => self.value(Builtin::PredOf32, &[value]),
            Class::Pred => Err(self.invalid(format!("`{name}` is not a predicate"))),
        }
    }
}

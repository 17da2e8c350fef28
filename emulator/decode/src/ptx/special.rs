//! Special registers: values known before a warp starts, and values read when the instruction runs.

use super::Lower;
use crate::error::Result;
use crate::operands::clock_class;
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{Clock, OpKind, RESERVED, SHARED_BASE, Special};

/// Source of a special register's value.
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
    use SpecialSource::{Line, Number};
    Some(match name {
        "%tid.x" => Line(Special::TidX),
        "%tid.y" => Line(Special::TidY),
        "%tid.z" => Line(Special::TidZ),
        "%ntid.x" => Line(Special::NtidX),
        "%ntid.y" => Line(Special::NtidY),
        "%ntid.z" => Line(Special::NtidZ),
        "%ctaid.x" => Line(Special::CtaidX),
        "%ctaid.y" => Line(Special::CtaidY),
        "%ctaid.z" => Line(Special::CtaidZ),
        "%nctaid.x" => Line(Special::NctaidX),
        "%nctaid.y" => Line(Special::NctaidY),
        "%nctaid.z" => Line(Special::NctaidZ),
        "%clusterid.x" => Line(Special::ClusteridX),
        "%clusterid.y" => Line(Special::ClusteridY),
        "%clusterid.z" => Line(Special::ClusteridZ),
        "%nclusterid.x" => Line(Special::NclusteridX),
        "%nclusterid.y" => Line(Special::NclusteridY),
        "%nclusterid.z" => Line(Special::NclusteridZ),
        "%cluster_ctaid.x" => Line(Special::ClusterCtaidX),
        "%cluster_ctaid.y" => Line(Special::ClusterCtaidY),
        "%cluster_ctaid.z" => Line(Special::ClusterCtaidZ),
        "%cluster_nctaid.x" => Line(Special::ClusterNctaidX),
        "%cluster_nctaid.y" => Line(Special::ClusterNctaidY),
        "%cluster_nctaid.z" => Line(Special::ClusterNctaidZ),
        "%cluster_ctarank" => Line(Special::ClusterCtarank),
        "%cluster_nctarank" => Line(Special::ClusterNctarank),
        "%tid.w" | "%ctaid.w" | "%clusterid.w" | "%cluster_ctaid.w" => Number(0),
        "%ntid.w" | "%nctaid.w" | "%nclusterid.w" | "%cluster_nctaid.w" => Number(1),
        "%is_explicit_cluster" => Line(Special::IsExplicitCluster),
        "%laneid" => Line(Special::LaneId),
        "%warpid" => Line(Special::WarpId),
        "%nwarpid" => Line(Special::NwarpId),
        "%smid" => Line(Special::SmId),
        "%nsmid" => Line(Special::NsmId),
        "%gridid" => Line(Special::GridId),
        "%lanemask_eq" => Line(Special::LanemaskEq),
        "%lanemask_le" => Line(Special::LanemaskLe),
        "%lanemask_lt" => Line(Special::LanemaskLt),
        "%lanemask_ge" => Line(Special::LanemaskGe),
        "%lanemask_gt" => Line(Special::LanemaskGt),
        "%dynamic_smem_size" => Line(Special::DynamicSharedBytes),
        "%total_smem_size" | "%aggr_smem_size" => Line(Special::TotalSharedBytes),
        "%envreg1" => Line(Special::EnvReg1),
        "%envreg2" => Line(Special::EnvReg2),
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
        _ if ["%envreg", "%pm", "%reserved_smem_offset"]
            .iter()
            .any(|p| name.starts_with(p)) =>
        {
            SpecialSource::Refused
        }
        _ => return None,
    })
}

impl Lower<'_> {
    /// Value of a special register as a source of `class`.
    pub(super) fn special(&mut self, found: SpecialSource, name: &str, class: Class) -> Result<Src> {
        let value = match found {
            SpecialSource::Line(special) => {
                let registers = &mut self.registers;
                *self
                    .specials
                    .entry(special)
                    .or_insert_with(|| registers.fresh(Class::Bits32)) as Src
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
                if class == Class::Pred {
                    return Err(self.invalid(format!("`{name}` is no predicate")));
                }
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
            Class::Pred => Err(self.invalid(format!("`{name}` is no predicate"))),
        }
    }
}

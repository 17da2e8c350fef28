//! Special registers and clocks that kernels read.

/// Number of a component: x, y or z.
pub type Axis = usize;

/// A special register that has its value before a warp starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Special {
    Tid(Axis),
    Ntid(Axis),
    Ctaid(Axis),
    Nctaid(Axis),
    Clusterid(Axis),
    Nclusterid(Axis),
    ClusterCtaid(Axis),
    ClusterNctaid(Axis),
    /// `1.0 / ClusterNctaid`, as an `f32`: machine code divides by it.
    PerClusterNctaid(Axis),
    ClusterCtarank,
    ClusterNctarank,
    /// 1 if the launch named a cluster size.
    IsExplicitCluster,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// `%envreg1`: the high half of the address of a cooperative grid's workspace, or 0.
    EnvReg1,
    /// `%envreg2`: the low half.
    EnvReg2,
    /// Four bytes of the parameter block at this offset. Machine code reads parameters as operands.
    ParamWord(u32),
    /// Bytes of a thread's local memory: the end of machine code's stack.
    LocalBytes,
}

impl Special {
    pub fn varies_in_a_warp(self) -> bool {
        use Special::*;
        matches!(self, Tid(_) | LaneId | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
}

//! Special registers and clocks.

/// A special register that is known before a warp starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    missing_docs,
    reason = "each variant is the PTX special register of the same name"
)]
pub enum Special {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    ClusteridX,
    ClusteridY,
    ClusteridZ,
    NclusteridX,
    NclusteridY,
    NclusteridZ,
    ClusterCtaidX,
    ClusterCtaidY,
    ClusterCtaidZ,
    ClusterNctaidX,
    ClusterNctaidY,
    ClusterNctaidZ,
    ClusterCtarank,
    ClusterNctarank,
    /// 1 if the launch was given a size of clusters.
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
    /// `%envreg2`: its low half.
    EnvReg2,
    /// Four bytes of the parameter block, from this offset on. Machine code names parameters as operands.
    ParamWord(u32),
    /// Local memory of a thread, in bytes: where machine code finds the end of its stack.
    LocalBytes,
}

impl Special {
    /// Whether lanes of one warp can have different values.
    pub fn varies_in_a_warp(self) -> bool {
        use Special::*;
        matches!(
            self,
            TidX | TidY | TidZ | LaneId | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt
        )
    }
}

/// A clock that a kernel can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX special registers of the same names")]
pub enum Clock {
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
}

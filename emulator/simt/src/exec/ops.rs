//! The operations other than arithmetic, a module per family, and `undefined`, which tracks undefined values.

pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod bulk;
pub(crate) mod call;
pub(crate) mod copy;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod printf;
pub(crate) mod tensor;
pub(crate) mod texture;
pub(crate) mod traced;
pub(crate) mod undefined;
pub(crate) mod warpwide;
pub(crate) mod wgmma;

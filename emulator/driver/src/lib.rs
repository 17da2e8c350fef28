//! The CUDA driver API over the emulated GPU.

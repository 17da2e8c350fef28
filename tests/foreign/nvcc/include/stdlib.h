// NVRTC declares printf and malloc by itself.

// constant_store_broken.cu: a cast takes the const away, and the default weights get scaled in constant memory.
//
// grid: 1
// block: 4
// arg: use_default i32 1
// arg: given f32[4] filled
// arg: y f32[4] empty
// expect: E-READ-ONLY

__constant__ float default_weights[4] = {0.1f, 0.2f, 0.3f, 0.4f};

extern "C" __global__ void normalise(int use_default, float* given, float* y)
{
    const int i = threadIdx.x;
    float* weights = use_default ? const_cast<float*>(default_weights) : given;
    weights[i] *= 2.0f;
    y[i] = weights[i];
}

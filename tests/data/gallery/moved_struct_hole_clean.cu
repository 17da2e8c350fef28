// moved_struct_hole_clean.cu: structs with padding, copied whole.
//
// grid: 1
// block: 64
// arg: x f32[64] filled
// arg: out f32[512] empty
// expect: clean

struct alignas(16) Particle {
    double mass;
    float x, y;
    char kind;  // seven bytes of padding follow
    double age;
};

extern "C" __global__ void reverse(const float* x, Particle* out)
{
    __shared__ Particle all[64];

    const int i = threadIdx.x;
    all[i].mass = x[i];
    all[i].x = x[i];
    all[i].y = 2.0f * x[i];
    all[i].kind = i % 3;
    all[i].age = i;
    __syncthreads();

    Particle mine = all[63 - i];
    if (mine.kind == 1) mine.age += 1.0;
    out[i] = mine;
}

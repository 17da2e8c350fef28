// switch.cu: dense cases, sparse ones, and one that falls through: a tree of branches.

extern "C" __global__ void calculator(int n, const int* op, const int* x, int* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    switch (op[i]) {
        case 0: v = v + 7; break;
        case 1: v = v * 3; break;
        case 2: v = v ^ 0x55; [[fallthrough]];
        case 3: v = v - 1; break;
        case 4: v = v / 5; break;
        case 5: v = v % 11; break;
        case 6: for (int k = 0; k < 4; ++k) v += k * v; break;
        case 7: v = v << 2; break;
        case 8: v = v >> 1; break;
        case 9: v = __popc(v); break;
        case 10: v = __clz(v); break;
        case 11: v = -v; break;
        case 1000: v = 1000; break;
        case -5: v = 5; break;
        default: v = ~v;
    }
    y[i] = v;
}

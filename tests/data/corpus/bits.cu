// bits.cu: bit tricks, some by intrinsic and some by inline assembly.

extern "C" __global__ void bits(int n, const unsigned* x, const unsigned* y, unsigned* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned a = x[i];
    const unsigned b = y[i];
    unsigned* o = &out[16 * i];
    o[0] = __byte_perm(a, b, 0x6420);
    o[1] = __funnelshift_l(a, b, b);
    o[2] = __funnelshift_r(a, b, b);
    o[3] = __dp4a(a, b, 5u);
    o[4] = (unsigned)__dp4a((int)a, (int)b, -5);
    o[5] = __brev(a);
    o[6] = __popc(a) + 64 * __clz(b) + 4096 * __ffs(a);
    o[7] = __sad((int)a, (int)b, 9u);
    o[8] = __usad(a, b, 9u);
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[9]) : "r"(a), "r"(b & 31), "r"(7));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[10]) : "r"(a), "r"(b & 31), "r"(7));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[11]) : "r"(a), "r"(b), "r"(3), "r"(9));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[12]) : "r"(a), "r"(b), "r"(0x0ff00ff0));
    o[13] = (a << 7 | a >> 25) ^ (b & ~a) ^ (a | b);
    asm("bfind.u32 %0, %1;" : "=r"(o[14]) : "r"(a));
    o[15] = __vadd4(a, b);
}

// 128-bit sums and products by carry chains.
extern "C" __global__ void carries(int n, const unsigned* x, const unsigned* y, unsigned* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned* a = &x[4 * i];
    const unsigned* b = &y[4 * i];
    unsigned* o = &out[12 * i];
    asm("{ add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11; }"
        : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    asm("{ sub.cc.u32 %0, %4, %8; subc.cc.u32 %1, %5, %9; subc.cc.u32 %2, %6, %10; subc.u32 %3, %7, %11; }"
        : "=r"(o[4]), "=r"(o[5]), "=r"(o[6]), "=r"(o[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    // 64 x 64 -> 128 bits.
    asm("{\n"
        "  mul.lo.u32 %0, %4, %6;\n"
        "  mul.hi.u32 %1, %4, %6;\n"
        "  mad.lo.cc.u32 %1, %4, %7, %1;\n"
        "  madc.hi.u32 %2, %4, %7, 0;\n"
        "  mad.lo.cc.u32 %1, %5, %6, %1;\n"
        "  madc.hi.cc.u32 %2, %5, %6, %2;\n"
        "  madc.hi.u32 %3, %5, %7, 0;\n"
        "  mad.lo.cc.u32 %2, %5, %7, %2;\n"
        "  addc.u32 %3, %3, 0;\n"
        "}"
        : "=&r"(o[8]), "=&r"(o[9]), "=&r"(o[10]), "=&r"(o[11])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
}

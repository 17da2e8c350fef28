// Calls through addresses: tables of functions, arguments, virtual functions.

typedef unsigned int u32;
typedef u32 (*Operation)(u32, u32);

__device__ u32 add(u32 a, u32 b) { return a + b; }
__device__ u32 subtract(u32 a, u32 b) { return a - b; }
__device__ u32 multiply(u32 a, u32 b) { return a * b; }
__device__ u32 mix(u32 a, u32 b) { return (a ^ (b << 7)) * 2654435761u; }

__device__ Operation table[4] = {add, subtract, multiply, mix};

// Lanes of one warp call different functions.
extern "C" __global__ void through_table(u32 *out, const u32 *which, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 v = i;
    for (int round = 0; round < 4; round++) v = table[(which[i] >> (2 * round)) & 3](v, i + round);
    out[i] = v;
}

__device__ __noinline__ u32 fold(Operation f, const u32 *a, int n) {
    u32 v = 1;
    for (int i = 0; i < n; i++) v = f(v, a[i]);
    return v;
}

extern "C" __global__ void as_argument(u32 *out, const u32 *a) {
    u32 i = threadIdx.x;
    Operation f = i % 3 == 0 ? add : i % 3 == 1 ? multiply : mix;
    out[i] = fold(f, a, 5) + fold(subtract, a, i % 4);
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual float scaled(float by) const { return area() * by; }
};

struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};

struct Box : Shape {
    float width, height;
    __device__ Box(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ float scaled(float by) const override { return width * by * (height * by); }
};

struct Two : Shape {
    const Shape *a, *b;
    __device__ Two(const Shape *a, const Shape *b) : a(a), b(b) {}
    __device__ float area() const override { return a->area() + b->area(); }
};

// Objects of different classes; one calls back into others.
extern "C" __global__ void virtual_functions(float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Square square(i);
    Box box(i, 2);
    Two two(&square, &box), four(&two, &two);
    const Shape *shapes[4] = {&square, &box, &two, &four};
    const Shape *s = shapes[i % 4];
    out[i] = s->area() + s->scaled(0.5f);
}

// moved_union_clean.cu: a union of a small and a large member, with a tag.
//
// grid: 1
// block: 64
// arg: x i32[64] filled
// arg: y f32[64] empty
// arg: kept f32[512] empty
// expect: clean

struct Shape {
    int tag;
    union {
        float radius;
        float sides[5];
        double exact;
    };
};

extern "C" __global__ void areas(const int* x, float* y, Shape* kept)
{
    __shared__ Shape shapes[64];

    Shape shape;
    shape.tag = x[threadIdx.x] % 3;
    if (shape.tag == 0) shape.radius = 1.0f;
    if (shape.tag == 1) shape.sides[0] = shape.sides[1] = 2.0f;
    if (shape.tag == 2) shape.exact = 3.0;
    shapes[threadIdx.x ^ 5] = shape;
    __syncthreads();

    const Shape mine = shapes[threadIdx.x];
    float area = 0.0f;
    switch (mine.tag) {
    case 0: area = 3.14f * mine.radius * mine.radius; break;
    case 1: area = mine.sides[0] * mine.sides[1]; break;
    default: area = static_cast<float>(mine.exact);
    }
    y[threadIdx.x] = area;
    kept[threadIdx.x] = mine;
}

// unseen.cu: kernels that have nothing to do with the ladder and played no part in building the model of time.
//
// What is predicted for them, beside what an H200 took, says more about the model than its errors on the ladder. So
// none of them may be looked at while the model is changed. All arrays are row-major; sizes need not fit the tiles.

constexpr int WARP = 32;

__device__ __forceinline__ float warp_sum(float x)
{
    #pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Sums ------------------------------------------------------------------------------------------------------------

// out[block]: the sum of what the block's threads met on their way through `n` floats. 256 threads.
extern "C" __global__ void sum_blocks(int n, const float* in, float* out)
{
    __shared__ float parts[256 / WARP];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x < WARP) {
        sum = warp_sum(threadIdx.x < 256 / WARP ? parts[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

// A warp for each row. 256 threads.
extern "C" __global__ void sum_rows(int rows, int cols, const float* in, float* out)
{
    const int row = blockIdx.x * (256 / WARP) + threadIdx.x / WARP;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int col = threadIdx.x % WARP; col < cols; col += WARP) sum += in[static_cast<long long>(row) * cols + col];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) out[row] = sum;
}

// A thread for each column. 128 threads.
extern "C" __global__ void sum_columns(int rows, int cols, const float* in, float* out)
{
    const int col = blockIdx.x * 128 + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += in[static_cast<long long>(row) * cols + col];
    out[col] = sum;
}

// A block for each row: its largest element, the sum of exponentials, and the quotients. 256 threads.
extern "C" __global__ void softmax(int cols, const float* in, float* out)
{
    __shared__ float parts[256 / WARP];
    const float* row = in + static_cast<long long>(blockIdx.x) * cols;
    float* result = out + static_cast<long long>(blockIdx.x) * cols;
    float most = -1e30f;
    for (int i = threadIdx.x; i < cols; i += 256) most = fmaxf(most, row[i]);
    #pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = most;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 256 / WARP; ++i) most = fmaxf(most, parts[i]);
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 256) sum += __expf(row[i] - most);
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = sum;
    __syncthreads();
    sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < 256 / WARP; ++i) sum += parts[i];
    for (int i = threadIdx.x; i < cols; i += 256) result[i] = __expf(row[i] - most) / sum;
}

// Running sums within each block's 512 elements. 512 threads.
extern "C" __global__ void scan_blocks(int n, const float* in, float* out)
{
    __shared__ float parts[512 / WARP];
    const int i = blockIdx.x * 512 + threadIdx.x;
    const int lane = threadIdx.x % WARP;
    float sum = i < n ? in[i] : 0.0f;
    #pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const float left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == WARP - 1) parts[threadIdx.x / WARP] = sum;
    __syncthreads();
    for (int warp = 0; warp < static_cast<int>(threadIdx.x) / WARP; ++warp) sum += parts[warp];
    if (i < n) out[i] = sum;
}

// Stencils --------------------------------------------------------------------------------------------------------

// Five points, each from global memory. 32 x 8 threads.
extern "C" __global__ void stencil_five(int rows, int cols, const float* in, float* out)
{
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row < 1 || col < 1 || row >= rows - 1 || col >= cols - 1) return;
    const float* at = in + row * cols + col;
    out[row * cols + col] = 0.5f * at[0] + 0.125f * (at[-1] + at[1] + at[-cols] + at[cols]);
}

// The same from a tile with a margin in shared memory. 32 x 16 threads.
extern "C" __global__ void stencil_tile(int rows, int cols, const float* in, float* out)
{
    __shared__ float tile[16 + 2][32 + 2];
    const int col0 = blockIdx.x * 32 - 1, row0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
        const int row = row0 + i / 34, col = col0 + i % 34;
        const bool inside = row >= 0 && col >= 0 && row < rows && col < cols;
        tile[i / 34][i % 34] = inside ? in[row * cols + col] : 0.0f;
    }
    __syncthreads();
    const int row = row0 + 1 + threadIdx.y, col = col0 + 1 + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    out[row * cols + col] =
        0.5f * tile[y][x] + 0.125f * (tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x]);
}

// Seven points in space: a thread walks along z and keeps three planes in registers. 32 x 4 threads.
extern "C" __global__ void stencil_seven(int nx, int ny, int nz, const float* in, float* out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const int plane = nx * ny;
    int at = y * nx + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < nz - 1; ++z) {
        at += plane;
        const float above = in[at + plane];
        out[at] = 0.4f * here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]);
        below = here;
        here = above;
    }
}

// 5 x 5 weights that all threads read; 4 results of a column for each thread. 32 x 8 threads.
extern "C" __global__ void convolution(int rows, int cols, const float* in, const float* weights, float* out)
{
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row0 = (blockIdx.y * 8 + threadIdx.y) * 4;
    if (col + 4 >= cols || row0 + 7 >= rows) return;
    float sum[4] = {};
    #pragma unroll
    for (int y = 0; y < 8; ++y) {
        #pragma unroll
        for (int x = 0; x < 5; ++x) {
            const float value = in[(row0 + y) * cols + col + x];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                if (y - i >= 0 && y - i < 5) sum[i] += value * weights[(y - i) * 5 + x];
        }
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[(row0 + i) * cols + col] = sum[i];
}

// Products --------------------------------------------------------------------------------------------------------

// y = A x: a warp for each row, 16 bytes for each lane. cols is a multiple of four. 128 threads.
extern "C" __global__ void matvec(int rows, int cols, const float4* a, const float4* x, float* y)
{
    const int row = blockIdx.x * 4 + threadIdx.x / WARP;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = threadIdx.x % WARP; i < cols / 4; i += WARP) {
        const float4 p = a[row * (cols / 4) + i], q = x[i];
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) y[row] = sum;
}

// C = A B: 64 x 64 of C for a block, 4 x 4 for a thread, 16 of k at a time; both tiles as they lie. 256 threads.
extern "C" __global__ void product_64(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[64][16 + 1], b_tile[16][64];
    const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 256) {
            const int r = i / 16, c = i % 16;
            a_tile[r][c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : 0.0f;
            const int br = i / 64, bc = i % 64;
            b_tile[br][bc] = k0 + br < K && col0 + bc < N ? B[(k0 + br) * N + col0 + bc] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; ++k) {
            float a[4], b[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = a_tile[ty + 16 * i][k];
            #pragma unroll
            for (int j = 0; j < 4; ++j) b[j] = b_tile[k][tx + 16 * j];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (row0 + ty + 16 * i < M && col0 + tx + 16 * j < N)
                C[(row0 + ty + 16 * i) * N + col0 + tx + 16 * j] = sum[i][j];
}

// The same in FP64 with 32 x 32 of C for a block, 2 x 2 for a thread. 256 threads.
extern "C" __global__ void product_double(int M, int N, int K, const double* A, const double* B, double* C)
{
    __shared__ double a_tile[16][32 + 1], b_tile[16][32];
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    double sum[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = threadIdx.x; i < 32 * 16; i += 256) {
            const int r = i / 16, c = i % 16;
            a_tile[c][r] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : 0.0;
            const int br = i / 32, bc = i % 32;
            b_tile[br][bc] = k0 + br < K && col0 + bc < N ? B[(k0 + br) * N + col0 + bc] : 0.0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; ++k)
            #pragma unroll
            for (int i = 0; i < 2; ++i)
                #pragma unroll
                for (int j = 0; j < 2; ++j) sum[i][j] += a_tile[k][2 * ty + i] * b_tile[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            if (row0 + 2 * ty + i < M && col0 + tx + 16 * j < N)
                C[(row0 + 2 * ty + i) * N + col0 + tx + 16 * j] = sum[i][j];
}

// A += x yT: four rows for a thread. 256 threads.
extern "C" __global__ void rank_one(int rows, int cols, const float* x, const float* y, float* a)
{
    const int col = blockIdx.x * 256 + threadIdx.x;
    if (col >= cols) return;
    const float factor = y[col];
    for (int row = blockIdx.y * 4; row < min(rows, static_cast<int>(blockIdx.y) * 4 + 4); ++row)
        a[row * cols + col] += x[row] * factor;
}

// Moving ----------------------------------------------------------------------------------------------------------

// Transposes 64 x 16 elements of two bytes. 256 threads.
extern "C" __global__ void transpose_short(int rows, int cols, const unsigned short* in, unsigned short* out)
{
    __shared__ unsigned short tile[16][64 + 2];
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 64;
    for (int i = threadIdx.x; i < 16 * 64; i += 256) {
        const int r = i / 64, c = i % 64;
        if (row0 + r < rows && col0 + c < cols) tile[r][c] = in[(row0 + r) * cols + col0 + c];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 16 * 64; i += 256) {
        const int r = i % 16, c = i / 16;
        if (row0 + r < rows && col0 + c < cols) out[(col0 + c) * rows + row0 + r] = tile[r][c];
    }
}

// Each element from a place far away. n is a power of two. 256 threads.
extern "C" __global__ void gather(int n, const float* in, float* out)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = in[(i * 2654435761u >> 7) & (n - 1)];
}

// z = x + s y, 16 bytes at a time. 256 threads.
extern "C" __global__ void triad(int n4, float s, const float4* x, const float4* y, float4* z)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n4) return;
    const float4 p = x[i], q = y[i];
    z[i] = make_float4(p.x + s * q.x, p.y + s * q.y, p.z + s * q.z, p.w + s * q.w);
}

// Arithmetic ------------------------------------------------------------------------------------------------------

// A polynomial of degree 64 at four points for each thread. 256 threads.
extern "C" __global__ void polynomial(int n, float c, const float* in, float* out)
{
    const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (i + 3 >= n) return;
    float x[4], y[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    #pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = in[i + j];
    #pragma unroll 16
    for (int k = 0; k < 64; ++k)
        #pragma unroll
        for (int j = 0; j < 4; ++j) y[j] = y[j] * x[j] + c;
    #pragma unroll
    for (int j = 0; j < 4; ++j) out[i + j] = y[j];
}

// The pull of all bodies on each, 128 of them in shared memory at a time. n is a multiple of 128. 128 threads.
extern "C" __global__ void bodies(int n, const float4* body, float4* pull)
{
    __shared__ float4 tile[128];
    const float4 own = body[blockIdx.x * 128 + threadIdx.x];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        #pragma unroll 8
        for (int j = 0; j < 128; ++j) {
            const float4 other = tile[j];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = other.w * r * r * r;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        __syncthreads();
    }
    pull[blockIdx.x * 128 + threadIdx.x] = make_float4(x, y, z, 0.0f);
}

// How long a point stays near zero: neighbouring lanes stop at different times. 32 x 8 threads.
extern "C" __global__ void mandelbrot(int rows, int cols, int most, int* out)
{
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    const float cx = 3.0f * col / cols - 2.0f, cy = 2.0f * row / rows - 1.0f;
    float x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < most && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
    }
    out[row * cols + col] = n;
}

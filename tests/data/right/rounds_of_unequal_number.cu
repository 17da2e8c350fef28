// rounds_of_unequal_number.cu: whole warps leave a loop with a barrier one after the other, and end.
//
// block: 128
// arg: y i32[128] empty
// gives: y 0 0
// gives: y 32 1
// gives: y 96 3

extern "C" __global__ void leave_early(int* y)
{
    __shared__ int box[128];

    const int thread = threadIdx.x;
    int sum = 0;
    for (int round = 0; round < thread / 32; ++round) {
        box[thread] = round;
        __syncthreads();
        sum += box[(thread & ~31) + (thread + 1) % 32] - round + 1;
        __syncthreads();
    }
    y[thread] = sum;
}

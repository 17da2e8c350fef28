// print.cu: printf with every kind of argument.

extern "C" __global__ void print_all(int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i == 0) printf("plain text, 100%%\n");
    printf("%d %5u|%-6x|%08.3f|%g|%c|%s|%lld\n", -i, i * 10u, i * 17, i * 1.5f, i * 0.25, 'a' + i,
           i % 2 ? "odd" : "even", (long long)i << 40);
}

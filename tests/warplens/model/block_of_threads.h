// CUDA C++ on a CPU, just enough for our texts: a block at a time, a thread of the CPU for each of
// its threads, a barrier at which they meet. Slow, and exact about what a text computes.
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

struct Dim { unsigned x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

static thread_local Dim threadIdx;
static Dim blockIdx, blockDim, gridDim;
static std::barrier<> *meeting;

#define __global__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __syncthreads() meeting->arrive_and_wait()

template <class Kernel> void run_blocks(Dim grid, Dim block, Kernel kernel) {
    gridDim = grid, blockDim = block;
    for (unsigned b = 0; b < grid.x * grid.y; ++b) {
        blockIdx = {b % grid.x, b / grid.x};
        std::barrier<> here(block.x * block.y);
        meeting = &here;
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < block.x * block.y; ++t)
            threads.emplace_back([=] {
                threadIdx = {t % block.x, t / block.x};
                kernel();
            });
        for (auto &thread : threads)
            thread.join();
    }
}

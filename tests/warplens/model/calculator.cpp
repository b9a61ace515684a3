// NVIDIA's occupancy calculator as a program, for the table and the test beside this file.
// Reads "major minor threads registers shared" line by line; answers each line with
// "blocks by-registers by-shared-memory by-warps by-blocks limiting-bits carve-out",
// where shared memory is dynamic, and as much as was asked for before the launch.
// cuda_occupancy.h is NVIDIA's; it comes with the CUDA toolkit and with its wheels.
#include <climits>
#include <cstdio>
#include <cstring>

#include "cuda_occupancy.h"

int main() {
    int major, minor, threads, registers;
    long shared;
    while (std::scanf("%d %d %d %d %ld", &major, &minor, &threads, &registers, &shared) == 5) {
        int capability = 10 * major + minor, warps = 48, kib = 100;
        if (capability == 75) warps = 32, kib = 64;
        if (capability == 80) warps = 64, kib = 164;
        if (capability == 90 || capability == 100) warps = 64, kib = 228;

        cudaOccDeviceProp device;
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = 32 * warps;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.numSms = 1;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = 1024 * kib;
        device.reservedSharedMemPerBlock = capability == 75 ? 0 : 1024;
        device.sharedMemPerBlockOptin = 1024 * kib - device.reservedSharedMemPerBlock;

        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = shared;
        kernel.numBlockBarriers = 1;

        cudaOccDeviceState state;
        cudaOccResult found;
        std::memset(&found, 0, sizeof found);
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state, threads, shared))
            return 1;
        size_t carve_out = found.activeBlocksPerMultiprocessor * found.allocatedSharedMemPerBlock;
        if (cudaOccAlignUpShmemSizeVoltaPlus(&carve_out, &device)) return 2;
        std::printf("%d %d %d %d %d %u %zu\n", found.activeBlocksPerMultiprocessor,
                    found.blockLimitRegs, found.blockLimitSharedMem, found.blockLimitWarps,
                    found.blockLimitBlocks, found.limitingFactors, carve_out);
    }
}

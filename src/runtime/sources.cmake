# Sources of the runtime. BROMIDE_RUNTIME_SOURCES are compiled natively into libHalide (hidden visibility) and, by clang
# with -ffreestanding, to bitcode for each target family. BROMIDE_RUNTIME_NATIVE_SOURCES are for libHalide only.
# BROMIDE_RUNTIME_PORTABLE_SOURCES is the subset for targets without an operating system (noos).
set(BROMIDE_RUNTIME_PORTABLE_SOURCES
    buffer_helpers.cpp
    device.cpp
    errors.cpp
    float16.cpp
    memoization.cpp
    msan.cpp
    to_string.cpp)

set(BROMIDE_RUNTIME_SOURCES
    ${BROMIDE_RUNTIME_PORTABLE_SOURCES}
    allocation.cpp
    clock.cpp
    cpu_features.cpp
    debug_to_file.cpp
    environment.cpp
    print.cpp
    profiler.cpp
    symbols.cpp
    synchronization.cpp
    thread_pool.cpp
    tracing.cpp)

set(BROMIDE_RUNTIME_NATIVE_SOURCES
    RuntimeSymbols.cpp)

# For targets without an operating system: one thread, and print, error and malloc from the program.
set(BROMIDE_RUNTIME_NOOS_SOURCES
    ${BROMIDE_RUNTIME_PORTABLE_SOURCES}
    noos.cpp)

# Files that the sources above include; a change of one means a new build of all bitcode.
set(BROMIDE_RUNTIME_INTERNAL_HEADERS
    HalideRuntime.h
    runtime_internal.h)

# Installed next to Halide.h.
set(BROMIDE_RUNTIME_PUBLIC_HEADERS
    HalideBuffer.h
    HalidePyTorchCudaHelpers.h
    HalidePyTorchHelpers.h
    HalideRuntime.h
    HalideRuntimeCuda.h
    HalideRuntimeD3D12Compute.h
    HalideRuntimeHexagonDma.h
    HalideRuntimeHexagonHost.h
    HalideRuntimeMetal.h
    HalideRuntimeOpenCL.h
    HalideRuntimeQurt.h
    HalideRuntimeVulkan.h
    HalideRuntimeWebGPU.h)

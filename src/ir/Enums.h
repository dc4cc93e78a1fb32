#pragma once

#include <string>

namespace Halide {

/// Where a loop runs.
enum class DeviceAPI {
    None,  ///< Not said: as in the enclosing loop.
    Host,
    Default_GPU,
    CUDA,
    OpenCL,
    Metal,
    Hexagon,
    HexagonDma,
    D3D12Compute,
    Vulkan,
    WebGPU,
    SMEStreaming,
    PTO,
};

constexpr DeviceAPI all_device_apis[] = {
    DeviceAPI::None,   DeviceAPI::Host,    DeviceAPI::Default_GPU, DeviceAPI::CUDA,         DeviceAPI::OpenCL,
    DeviceAPI::Metal,  DeviceAPI::Hexagon, DeviceAPI::HexagonDma,  DeviceAPI::D3D12Compute, DeviceAPI::Vulkan,
    DeviceAPI::WebGPU, DeviceAPI::SMEStreaming, DeviceAPI::PTO,
};

/// Where a Func's values are kept.
enum class MemoryType {
    Auto,
    Heap,
    Stack,
    Register,
    GPUShared,
    GPUTexture,
    LockedCache,
    VTCM,
    AMXTile,
    GPUSharedAsync,
    GPR,  ///< General-purpose registers: each dense vector access is one access of an integer word.
    UB,   ///< The unified buffer of a PTO core.
};

/// How an extern function's symbol is made from its name.
enum class NameMangling {
    Default,  ///< As the target feature c_plus_plus_name_mangling says.
    C,
    CPlusPlus,
};

/// What happens to the last part of a loop that is split by a factor that does not divide it.
enum class TailStrategy {
    RoundUp,
    GuardWithIf,
    Predicate,
    PredicateLoads,
    PredicateStores,
    ShiftInwards,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
    Auto,
};

/// How loops merged by compute_with are placed relative to each other.
enum class LoopAlignStrategy {
    AlignStart,
    AlignEnd,
    NoAlign,
    Auto,
};

/// Whether a loop is cut into prologue, steady state and epilogue.
enum class Partition {
    Auto,
    Never,
    Always,
};

/// What a prefetch does where it leaves the valid region.
enum class PrefetchBoundStrategy {
    Clamp,
    GuardWithIf,
    NonFaulting,
};

/// What holds the lanes of a vectorized loop: vector registers, or parts of one integer word.
enum class VectorizeIn {
    SIMD,
    SWAR,
};

/// Who can see a compiled function.
enum class LinkageType {
    External,
    ExternalPlusMetadata,
    ExternalPlusArgv,
    Internal,
};

namespace Internal {

/// How the iterations of a loop are run.
enum class ForType {
    Serial,
    Parallel,
    Vectorized,
    Unrolled,
    Extern,
    GPUBlock,
    GPUThread,
    GPULane,
    VectorizedSWAR,
};

/// Whether iterations may run at the same time in no particular order.
inline bool is_unordered_parallel(ForType t) {
    return t == ForType::Parallel || t == ForType::GPUBlock || t == ForType::GPUThread || t == ForType::GPULane;
}

inline bool is_vectorized(ForType t) {
    return t == ForType::Vectorized || t == ForType::VectorizedSWAR;
}

/// Whether iterations run at the same time.
inline bool is_parallel(ForType t) {
    return is_unordered_parallel(t) || is_vectorized(t);
}

inline bool is_gpu(ForType t) {
    return t == ForType::GPUBlock || t == ForType::GPUThread || t == ForType::GPULane;
}

/// What the compiler behind us is asked to do about unrolling a loop that we keep.
struct UnrollHint {
    enum class Kind {
        None,
        Full,
        Factor,
    };
    Kind kind = Kind::None;
    int factor = 0;  ///< Only for Kind::Factor; at least 1.

    static UnrollHint full() {
        return {Kind::Full, 0};
    }
    static UnrollHint by(int factor) {
        return {Kind::Factor, factor};
    }
    bool defined() const {
        return kind != Kind::None;
    }
    bool operator==(const UnrollHint &other) const {
        return kind == other.kind && factor == other.factor;
    }
    bool operator!=(const UnrollHint &other) const {
        return !(*this == other);
    }
    bool operator<(const UnrollHint &other) const {
        return kind != other.kind ? kind < other.kind : factor < other.factor;
    }
};

}  // namespace Internal
}  // namespace Halide

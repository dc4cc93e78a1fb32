// How types, enumerations and other small things are printed.

#include "ir/IRPrinter.h"

#include "ir/IRConstants.h"

#include <sstream>

std::ostream &operator<<(std::ostream &stream, const halide_type_t &type) {
    return stream << Halide::Type(type);
}

namespace Halide {

using namespace Internal;

std::ostream &operator<<(std::ostream &stream, const Type &type) {
    switch (type.code()) {
    case halide_type_int:
        stream << "int" << type.bits();
        break;
    case halide_type_uint:
        stream << "uint" << type.bits();
        break;
    case halide_type_float:
        stream << "float" << type.bits();
        break;
    case halide_type_bfloat:
        stream << "bfloat" << type.bits();
        break;
    default:
        if (type.handle_type()) {
            stream << "(" << type_to_c_type(type.element_of(), false) << ")";
        } else {
            stream << "(void *)";
        }
        break;
    }
    if (type.lanes() > 1) {
        stream << "x" << type.lanes();
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const DeviceAPI &api) {
    switch (api) {
    case DeviceAPI::None:
    case DeviceAPI::Host:
        break;
    case DeviceAPI::Default_GPU:
        return stream << "<Default_GPU>";
    case DeviceAPI::CUDA:
        return stream << "<CUDA>";
    case DeviceAPI::OpenCL:
        return stream << "<OpenCL>";
    case DeviceAPI::Metal:
        return stream << "<Metal>";
    case DeviceAPI::Hexagon:
        return stream << "<Hexagon>";
    case DeviceAPI::HexagonDma:
        return stream << "<HexagonDma>";
    case DeviceAPI::D3D12Compute:
        return stream << "<D3D12Compute>";
    case DeviceAPI::Vulkan:
        return stream << "<Vulkan>";
    case DeviceAPI::WebGPU:
        return stream << "<WebGPU>";
    case DeviceAPI::SMEStreaming:
        return stream << "<SMEStreaming>";
    case DeviceAPI::PTO:
        return stream << "<PTO>";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const MemoryType &t) {
    switch (t) {
    case MemoryType::Auto:
        return stream << "Auto";
    case MemoryType::Heap:
        return stream << "Heap";
    case MemoryType::Stack:
        return stream << "Stack";
    case MemoryType::Register:
        return stream << "Register";
    case MemoryType::GPUShared:
        return stream << "GPUShared";
    case MemoryType::GPUTexture:
        return stream << "GPUTexture";
    case MemoryType::LockedCache:
        return stream << "LockedCache";
    case MemoryType::VTCM:
        return stream << "VTCM";
    case MemoryType::AMXTile:
        return stream << "AMXTile";
    case MemoryType::GPUSharedAsync:
        return stream << "GPUSharedAsync";
    case MemoryType::GPR:
        return stream << "GPR";
    case MemoryType::UB:
        return stream << "UB";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const NameMangling &m) {
    switch (m) {
    case NameMangling::Default:
        return stream << "default";
    case NameMangling::C:
        return stream << "c";
    case NameMangling::CPlusPlus:
        return stream << "c++";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const TailStrategy &t) {
    switch (t) {
    case TailStrategy::RoundUp:
        return stream << "RoundUp";
    case TailStrategy::GuardWithIf:
        return stream << "GuardWithIf";
    case TailStrategy::Predicate:
        return stream << "Predicate";
    case TailStrategy::PredicateLoads:
        return stream << "PredicateLoads";
    case TailStrategy::PredicateStores:
        return stream << "PredicateStores";
    case TailStrategy::ShiftInwards:
        return stream << "ShiftInwards";
    case TailStrategy::ShiftInwardsAndBlend:
        return stream << "ShiftInwardsAndBlend";
    case TailStrategy::RoundUpAndBlend:
        return stream << "RoundUpAndBlend";
    case TailStrategy::Auto:
        return stream << "Auto";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const LoopAlignStrategy &a) {
    switch (a) {
    case LoopAlignStrategy::AlignStart:
        return stream << "AlignStart";
    case LoopAlignStrategy::AlignEnd:
        return stream << "AlignEnd";
    case LoopAlignStrategy::NoAlign:
        return stream << "NoAlign";
    case LoopAlignStrategy::Auto:
        return stream << "Auto";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const Partition &p) {
    switch (p) {
    case Partition::Auto:
        break;
    case Partition::Never:
        return stream << "<Never>";
    case Partition::Always:
        return stream << "<Always>";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const PrefetchBoundStrategy &s) {
    switch (s) {
    case PrefetchBoundStrategy::Clamp:
        return stream << "Clamp";
    case PrefetchBoundStrategy::GuardWithIf:
        return stream << "GuardWithIf";
    case PrefetchBoundStrategy::NonFaulting:
        return stream << "NonFaulting";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const VectorizeIn &v) {
    return stream << (v == VectorizeIn::SIMD ? "SIMD" : "SWAR");
}

std::ostream &operator<<(std::ostream &stream, const LinkageType &t) {
    switch (t) {
    case LinkageType::External:
        return stream << "external";
    case LinkageType::ExternalPlusMetadata:
        return stream << "external_plus_metadata";
    case LinkageType::ExternalPlusArgv:
        return stream << "external_plus_argv";
    case LinkageType::Internal:
        return stream << "internal";
    }
    return stream;
}

namespace Internal {

std::ostream &operator<<(std::ostream &stream, const ForType &t) {
    switch (t) {
    case ForType::Serial:
        return stream << "for";
    case ForType::Parallel:
        return stream << "parallel";
    case ForType::Vectorized:
        return stream << "vectorized";
    case ForType::Unrolled:
        return stream << "unrolled";
    case ForType::Extern:
        return stream << "extern";
    case ForType::GPUBlock:
        return stream << "gpu_block";
    case ForType::GPUThread:
        return stream << "gpu_thread";
    case ForType::GPULane:
        return stream << "gpu_lane";
    case ForType::VectorizedSWAR:
        return stream << "vectorized_swar";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const UnrollHint &hint) {
    switch (hint.kind) {
    case UnrollHint::Kind::None:
        break;
    case UnrollHint::Kind::Full:
        return stream << "<unroll_hint>";
    case UnrollHint::Kind::Factor:
        return stream << "<unroll_hint " << hint.factor << ">";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const IRNodeType &t) {
    return stream << IRNodeType_string(t);
}

std::ostream &operator<<(std::ostream &stream, const VectorReduce::Operator &op) {
    switch (op) {
    case VectorReduce::Add:
        return stream << "Add";
    case VectorReduce::SaturatingAdd:
        return stream << "SaturatingAdd";
    case VectorReduce::Mul:
        return stream << "Mul";
    case VectorReduce::Min:
        return stream << "Min";
    case VectorReduce::Max:
        return stream << "Max";
    case VectorReduce::And:
        return stream << "And";
    case VectorReduce::Or:
        return stream << "Or";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const Call::CallType &t) {
    switch (t) {
    case Call::Image:
        return stream << "Image";
    case Call::Extern:
        return stream << "Extern";
    case Call::ExternCPlusPlus:
        return stream << "ExternCPlusPlus";
    case Call::PureExtern:
        return stream << "PureExtern";
    case Call::Halide:
        return stream << "Halide";
    case Call::Intrinsic:
        return stream << "Intrinsic";
    case Call::PureIntrinsic:
        return stream << "PureIntrinsic";
    }
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const Interval &i) {
    return stream << "[" << i.min << ", " << i.max << "]";
}

std::ostream &operator<<(std::ostream &stream, const ModulusRemainder &m) {
    return stream << "(" << m.modulus << ", " << m.remainder << ")";
}

}  // namespace Internal
}  // namespace Halide

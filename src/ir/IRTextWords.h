#pragma once

// The words of the exact text of IR (see IRText.cpp for the grammar): shared by its writer and its reader.

#include "ir/IR.h"

#include <cstddef>
#include <string>
#include <utility>

namespace Halide {
namespace Internal {
namespace ir_text {

inline constexpr std::pair<const char *, ForType> for_types[] = {
    {"for", ForType::Serial},
    {"parallel", ForType::Parallel},
    {"vectorized", ForType::Vectorized},
    {"unrolled", ForType::Unrolled},
    {"extern_loop", ForType::Extern},
    {"gpu_block", ForType::GPUBlock},
    {"gpu_thread", ForType::GPUThread},
    {"gpu_lane", ForType::GPULane},
    {"swar", ForType::VectorizedSWAR},
};

inline constexpr std::pair<const char *, DeviceAPI> device_apis[] = {
    {"None", DeviceAPI::None},
    {"Host", DeviceAPI::Host},
    {"Default_GPU", DeviceAPI::Default_GPU},
    {"CUDA", DeviceAPI::CUDA},
    {"OpenCL", DeviceAPI::OpenCL},
    {"Metal", DeviceAPI::Metal},
    {"Hexagon", DeviceAPI::Hexagon},
    {"HexagonDma", DeviceAPI::HexagonDma},
    {"D3D12Compute", DeviceAPI::D3D12Compute},
    {"Vulkan", DeviceAPI::Vulkan},
    {"WebGPU", DeviceAPI::WebGPU},
    {"SMEStreaming", DeviceAPI::SMEStreaming},
    {"PTO", DeviceAPI::PTO},
};

inline constexpr std::pair<const char *, MemoryType> memory_types[] = {
    {"Auto", MemoryType::Auto},
    {"Heap", MemoryType::Heap},
    {"Stack", MemoryType::Stack},
    {"Register", MemoryType::Register},
    {"GPUShared", MemoryType::GPUShared},
    {"GPUTexture", MemoryType::GPUTexture},
    {"LockedCache", MemoryType::LockedCache},
    {"VTCM", MemoryType::VTCM},
    {"AMXTile", MemoryType::AMXTile},
    {"GPUSharedAsync", MemoryType::GPUSharedAsync},
    {"GPR", MemoryType::GPR},
    {"UB", MemoryType::UB},
};

inline constexpr std::pair<const char *, Partition> partitions[] = {
    {"Auto", Partition::Auto},
    {"Never", Partition::Never},
    {"Always", Partition::Always},
};

inline constexpr std::pair<const char *, PrefetchBoundStrategy> prefetch_strategies[] = {
    {"Clamp", PrefetchBoundStrategy::Clamp},
    {"GuardWithIf", PrefetchBoundStrategy::GuardWithIf},
    {"NonFaulting", PrefetchBoundStrategy::NonFaulting},
};

inline constexpr std::pair<const char *, VectorReduce::Operator> reduce_ops[] = {
    {"sat+", VectorReduce::SaturatingAdd},
    {"+", VectorReduce::Add},
    {"*", VectorReduce::Mul},
    {"min", VectorReduce::Min},
    {"max", VectorReduce::Max},
    {"and", VectorReduce::And},
    {"or", VectorReduce::Or},
};

inline constexpr std::pair<const char *, Call::CallType> call_types[] = {
    {"func", Call::Halide},
    {"image", Call::Image},
    {"extern", Call::Extern},
    {"extern_cpp", Call::ExternCPlusPlus},
    {"pure_extern", Call::PureExtern},
    {"intrinsic", Call::Intrinsic},
    {"pure_intrinsic", Call::PureIntrinsic},
};

inline constexpr const char *start_of_broadcast = "\xe2\x9f\xa8";  // ⟨
inline constexpr const char *end_of_broadcast = "\xe2\x9f\xa9";    // ⟩

template<typename E, size_t N>
const char *word_of(const std::pair<const char *, E> (&table)[N], E value) {
    for (const auto &[word, v] : table) {
        if (v == value) {
            return word;
        }
    }
    internal_error << "no word for " << (int)value << "\n";
}

template<typename E, size_t N>
const E *find_word(const std::pair<const char *, E> (&table)[N], const std::string &word) {
    for (const auto &row : table) {
        if (word == row.first) {
            return &row.second;
        }
    }
    return nullptr;
}

bool is_name_start(char c);
bool is_name_char(char c);

/// Words that start an expression and cannot be the name of a variable.
bool is_reserved_name(const std::string &name);
/// Words that mean something before a parenthesis.
bool is_reserved_call(const std::string &name);
/// Words that start a statement.
bool is_statement_word(const std::string &name);

std::string type_text(const Type &t);

/// Reads a type from the front of a text.
/// @returns  how many characters it took; 0 if there is no type.
size_t scan_type(const char *text, Type *type);

}  // namespace ir_text
}  // namespace Internal
}  // namespace Halide

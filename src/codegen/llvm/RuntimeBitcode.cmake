# The runtime as LLVM bitcode, embedded in the library: one file per family of targets.
#
# bromide_embed_runtime_bitcode(<dir> <out>) compiles the sources listed in src/runtime/sources.cmake with clang for each
# family in BROMIDE_RUNTIME_FAMILIES, links them, and makes in <dir> a source that defines the table
# `bromide_runtime_bitcode` and, for generated C headers, the text of HalideRuntime.h. Its path is stored in <out>.
# No system headers are needed: clang's own, freestanding.

set(BROMIDE_RUNTIME_FAMILIES "x86-64-linux;arm-64-linux" CACHE STRING
    "Families of targets whose runtime is embedded: <arch>-<bits>-<linux|osx|noos>")

set(_bromide_runtime_dir "${CMAKE_CURRENT_LIST_DIR}/../../runtime")

# clang and llvm-link of the LLVM that the library is linked with.
find_program(BROMIDE_CLANG NAMES clang-${LLVM_VERSION_MAJOR} clang HINTS "${LLVM_TOOLS_BINARY_DIR}" REQUIRED)
find_program(BROMIDE_LLVM_LINK NAMES llvm-link-${LLVM_VERSION_MAJOR} llvm-link HINTS "${LLVM_TOOLS_BINARY_DIR}" REQUIRED)

function(_bromide_runtime_triple family out)
    set(arch_x86-64 x86_64)
    set(arch_x86-32 i386)
    set(arch_arm-64 aarch64)
    set(arch_arm-32 armv7a)
    set(arch_riscv-64 riscv64)
    set(arch_riscv-32 riscv32)
    set(os_linux unknown-linux-gnu)
    set(os_osx apple-macosx11.0.0)
    set(os_noos unknown-none-elf)
    string(REGEX REPLACE "-[a-z]+$" "" machine "${family}")
    string(REGEX REPLACE "^.*-" "" os "${family}")
    if(NOT DEFINED arch_${machine} OR NOT DEFINED os_${os})
        message(FATAL_ERROR "BROMIDE_RUNTIME_FAMILIES: there is no family ${family}")
    endif()
    set(triple "${arch_${machine}}-${os_${os}}")
    if(machine STREQUAL "arm-32" AND os STREQUAL "linux")
        set(triple "armv7a-unknown-linux-gnueabihf")
    endif()
    set(${out} "${triple}" PARENT_SCOPE)
endfunction()

# Appends to `text` the definition of <symbol>_begin and <symbol>_end around a file's bytes.
macro(_bromide_embed_file symbol file)
    string(APPEND text
        "extern \"C\" const char ${symbol}_begin[], ${symbol}_end[];\n"
        "__asm__(BROMIDE_RODATA\n"
        "        \".balign 16\\n\"\n"
        "        \".globl \" BROMIDE_SYMBOL \"${symbol}_begin\\n\" BROMIDE_SYMBOL \"${symbol}_begin:\\n\"\n"
        "        \".incbin \\\"${file}\\\"\\n\"\n"
        "        \".globl \" BROMIDE_SYMBOL \"${symbol}_end\\n\" BROMIDE_SYMBOL \"${symbol}_end:\\n\"\n"
        "        \".byte 0\\n\" BROMIDE_TEXT);\n")
endmacro()

function(bromide_embed_runtime_bitcode parent out)
    include("${_bromide_runtime_dir}/sources.cmake")
    set(dir "${parent}/runtime_bitcode")
    file(MAKE_DIRECTORY "${dir}")
    set(headers)
    foreach(h IN LISTS BROMIDE_RUNTIME_INTERNAL_HEADERS)
        list(APPEND headers "${_bromide_runtime_dir}/${h}")
    endforeach()

    set(text "// Made by RuntimeBitcode.cmake.\n")
    set(table "")
    set(all_bitcode)
    foreach(family IN LISTS BROMIDE_RUNTIME_FAMILIES)
        _bromide_runtime_triple("${family}" triple)
        set(sources ${BROMIDE_RUNTIME_SOURCES})
        if(family MATCHES "-noos$")
            set(sources ${BROMIDE_RUNTIME_NOOS_SOURCES})
        endif()
        set(flags -target ${triple} -std=c++17 -O2 -ffreestanding -nostdlibinc -fPIC -fno-exceptions -fno-rtti
                  -fno-threadsafe-statics -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables
                  -fno-vectorize -fno-slp-vectorize -emit-llvm -c "-I${_bromide_runtime_dir}")
        if(family MATCHES "^arm-64")
            # The helpers behind outlined atomics are in libgcc, which freestanding programs may not have.
            list(APPEND flags -mno-outline-atomics)
        endif()
        set(parts)
        foreach(source IN LISTS sources)
            get_filename_component(name "${source}" NAME_WE)
            set(part "${dir}/${family}_${name}.bc")
            add_custom_command(
                OUTPUT "${part}"
                COMMAND "${BROMIDE_CLANG}" ${flags} "${_bromide_runtime_dir}/${source}" -o "${part}"
                DEPENDS "${_bromide_runtime_dir}/${source}" ${headers}
                COMMENT "Runtime bitcode ${family}/${name}"
                VERBATIM)
            list(APPEND parts "${part}")
        endforeach()
        set(bitcode "${dir}/${family}.bc")
        add_custom_command(
            OUTPUT "${bitcode}"
            COMMAND "${BROMIDE_LLVM_LINK}" ${parts} -o "${bitcode}"
            DEPENDS ${parts}
            COMMENT "Runtime bitcode ${family}"
            VERBATIM)
        list(APPEND all_bitcode "${bitcode}")

        string(REPLACE "-" "_" symbol "bromide_bitcode_${family}")
        _bromide_embed_file(${symbol} "${bitcode}")
        string(APPEND table "    {\"${family}\", ${symbol}_begin, ${symbol}_end},\n")
    endforeach()

    get_filename_component(header "${_bromide_runtime_dir}/HalideRuntime.h" REALPATH)
    _bromide_embed_file(bromide_runtime_header "${header}")

    string(PREPEND text
        "#ifdef __APPLE__\n"
        "#define BROMIDE_RODATA \".section __TEXT,__const\\n\"\n"
        "#define BROMIDE_TEXT \".text\\n\"\n"
        "#define BROMIDE_SYMBOL \"_\"\n"
        "#else\n"
        "#define BROMIDE_RODATA \".pushsection .rodata\\n\"\n"
        "#define BROMIDE_TEXT \".popsection\\n\"\n"
        "#define BROMIDE_SYMBOL \"\"\n"
        "#endif\n"
        "struct BromideRuntimeBitcode {\n    const char *family;\n    const char *begin, *end;\n};\n"
        "extern const BromideRuntimeBitcode bromide_runtime_bitcode[];\n")
    string(APPEND text "const BromideRuntimeBitcode bromide_runtime_bitcode[] = {\n${table}    {nullptr, nullptr, nullptr},\n};\n")
    set(generated "${dir}/RuntimeBitcodeTable.cpp")
    file(CONFIGURE OUTPUT "${generated}" CONTENT "${text}" @ONLY)
    set_source_files_properties("${generated}" PROPERTIES OBJECT_DEPENDS "${all_bitcode};${header}")
    set(${out} "${generated}" PARENT_SCOPE)
endfunction()

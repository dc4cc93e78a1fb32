# The layers of the library, left to right. Each is one object library that sees `src/` and what stands left of it
# (tools/check-layers reads the includes; the link lines here only pass usage requirements on).

set(BROMIDE_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  # With optimization g++ 12 sees overlapping copies in std::string's operator+ and uninitialized std::optional values
  # that are not there (GCC bugs 105651 and 80635). The other presets keep both warnings.
  list(APPEND BROMIDE_WARNINGS -Wno-restrict -Wno-maybe-uninitialized)
endif()

add_library(bromide_options INTERFACE)
target_include_directories(bromide_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
target_compile_options(bromide_options INTERFACE ${BROMIDE_WARNINGS})
target_compile_definitions(bromide_options INTERFACE
  $<$<BOOL:${BROMIDE_VERIFY_PASSES}>:BROMIDE_VERIFY_PASSES>)

set(BROMIDE_LAYERS "")

function(bromide_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" id ${name})
  add_library(bromide_${id} OBJECT ${sources} ${ARGN})
  target_link_libraries(bromide_${id} PRIVATE bromide_options)
  set(BROMIDE_LAYERS ${BROMIDE_LAYERS} bromide_${id} PARENT_SCOPE)
endfunction()

# The C runtime, compiled natively; its symbols stay inside the library, where compiled pipelines are bound to them.
include(${CMAKE_SOURCE_DIR}/src/runtime/sources.cmake)
set(runtime_sources ${BROMIDE_RUNTIME_SOURCES} ${BROMIDE_RUNTIME_NATIVE_SOURCES})
list(TRANSFORM runtime_sources PREPEND ${CMAKE_SOURCE_DIR}/src/runtime/)
add_library(bromide_runtime OBJECT ${runtime_sources})
target_link_libraries(bromide_runtime PRIVATE bromide_options)
set_target_properties(bromide_runtime PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
list(APPEND BROMIDE_LAYERS bromide_runtime)

bromide_layer(support)
bromide_layer(ir)
bromide_layer(analysis)

bromide_layer(simplify)
include(${CMAKE_SOURCE_DIR}/src/simplify/embed_rules.cmake)
bromide_embed_rules(bromide_simplify)

bromide_layer(regions)
bromide_layer(func)
bromide_layer(lower)
bromide_layer(interp)

bromide_layer(codegen/pto)
bromide_layer(codegen/llvm)
target_include_directories(bromide_codegen_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
include(${CMAKE_SOURCE_DIR}/src/codegen/llvm/RuntimeBitcode.cmake)
bromide_embed_runtime_bitcode(${CMAKE_BINARY_DIR}/generated runtime_bitcode)
target_sources(bromide_codegen_llvm PRIVATE ${runtime_bitcode})

bromide_layer(api)

set(objects "")
foreach(layer ${BROMIDE_LAYERS})
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
add_library(Halide ${objects})
add_library(Halide::Halide ALIAS Halide)
set_target_properties(Halide PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(Halide PRIVATE LLVM Threads::Threads ${CMAKE_DL_LIBS})
target_link_directories(Halide PRIVATE ${LLVM_LIBRARY_DIRS})
target_compile_features(Halide INTERFACE cxx_std_17)
find_program(BROMIDE_MOLD mold)
if(BROMIDE_MOLD)
  target_link_options(Halide PRIVATE -fuse-ld=mold)
endif()

# build/<preset>/include: what a program compiles against without installing.
set(include_dir ${CMAKE_BINARY_DIR}/include)
file(GLOB_RECURSE all_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.h ${CMAKE_SOURCE_DIR}/src/*.def)
add_custom_command(
  OUTPUT ${include_dir}/Halide.h
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/amalgamate.py ${CMAKE_SOURCE_DIR}/src
          ${CMAKE_SOURCE_DIR}/cmake/public_headers.txt ${include_dir}/Halide.h
  DEPENDS ${all_headers} ${CMAKE_SOURCE_DIR}/cmake/amalgamate.py ${CMAKE_SOURCE_DIR}/cmake/public_headers.txt
  VERBATIM)
file(GLOB copied_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/runtime/Halide*.h ${CMAKE_SOURCE_DIR}/tools/*.h)
set(copied "")
foreach(header ${copied_headers})
  get_filename_component(base ${header} NAME)
  add_custom_command(OUTPUT ${include_dir}/${base}
    COMMAND ${CMAKE_COMMAND} -E copy ${header} ${include_dir}/${base} DEPENDS ${header} VERBATIM)
  list(APPEND copied ${include_dir}/${base})
endforeach()
add_custom_target(bromide_headers ALL DEPENDS ${include_dir}/Halide.h ${copied})
add_dependencies(Halide bromide_headers)
target_include_directories(Halide INTERFACE
  $<BUILD_INTERFACE:${include_dir}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

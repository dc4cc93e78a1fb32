# What `cmake --install` writes, and the CMake package that programs find.
include(CMakePackageConfigHelpers)

install(TARGETS Halide EXPORT HalideTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT HalideTargets NAMESPACE Halide:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Halide)
# The build tree is a package too: find_package(Halide HINTS build/release).
export(EXPORT HalideTargets NAMESPACE Halide:: FILE ${CMAKE_BINARY_DIR}/HalideTargets.cmake)

configure_package_config_file(${CMAKE_SOURCE_DIR}/packaging/HalideConfig.cmake.in
  ${CMAKE_BINARY_DIR}/HalideConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Halide)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/HalideConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/HalideConfig.cmake ${CMAKE_BINARY_DIR}/HalideConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Halide)

# What `cmake --install` installs, for `find_package(weft 0.1 CONFIG)`. Paths in
# it are relative: the installed tree may be moved.
# The parts install themselves.
include(CMakePackageConfigHelpers)

# All static parts at once.
add_library(weft_weft INTERFACE)
add_library(weft::weft ALIAS weft_weft)
set_target_properties(weft_weft PROPERTIES EXPORT_NAME weft)

set(WEFT_PARTS ringbuf runtime export)
foreach(part gpu profile)
  if(TARGET weft_${part})
    list(APPEND WEFT_PARTS ${part})
  endif()
endforeach()
foreach(part ${WEFT_PARTS})
  target_link_libraries(weft_weft INTERFACE weft::${part})
endforeach()
install(TARGETS weft_weft EXPORT weft_targets)

if(TARGET weft_shared)
  install(TARGETS weft_shared EXPORT weft_targets)
  file(RELATIVE_PATH WEFT_PC_TO_INCLUDE
       /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/weft.pc.in
                 ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft_targets NAMESPACE weft:: FILE weft-targets.cmake
        DESTINATION ${package_folder})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/weft-config.cmake.in
  ${PROJECT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${package_folder})
# 0.x promises nothing from one minor version to the next.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake
              ${PROJECT_BINARY_DIR}/weft-config-version.cmake
        DESTINATION ${package_folder})

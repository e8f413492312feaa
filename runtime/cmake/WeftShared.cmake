# libweft.so: ringbuf, runtime and export as one shared library, from the very
# objects of the static ones. Several libraries of a process that use it share
# one recorder.
option(WEFT_BUILD_SHARED "Build libweft.so as well" ${PROJECT_IS_TOP_LEVEL})
if(NOT WEFT_BUILD_SHARED)
  return()
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
add_library(weft_shared SHARED
  $<TARGET_OBJECTS:weft_ringbuf>
  $<TARGET_OBJECTS:weft_runtime>
  $<TARGET_OBJECTS:weft_export>)
add_library(weft::shared ALIAS weft_shared)

target_include_directories(weft_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/ringbuf/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/export/include>
  $<INSTALL_INTERFACE:include>)
target_compile_features(weft_shared INTERFACE cxx_std_17)
if(WEFT_DYNAMIC_TLS)
  target_compile_definitions(weft_shared INTERFACE WEFT_DYNAMIC_TLS)
endif()
target_link_libraries(weft_shared PRIVATE Threads::Threads ZLIB::ZLIB)
# Never unmapped: its threads may run, and threads that end come back to it.
target_link_options(weft_shared PRIVATE
  LINKER:-z,nodelete
  LINKER:--version-script,${CMAKE_CURRENT_LIST_DIR}/libweft.map)
set_target_properties(weft_shared PROPERTIES
  EXPORT_NAME shared OUTPUT_NAME weft LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/libweft.map)

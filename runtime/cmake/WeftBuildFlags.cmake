# Flags of weft's own sources. Linked PRIVATE and only when building, so that
# users never inherit them.
add_library(weft_build_flags INTERFACE)
target_compile_features(weft_build_flags INTERFACE cxx_std_20)
target_compile_options(weft_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  -fno-omit-frame-pointer)

option(WEFT_WERROR "Warnings are errors" OFF)
if(WEFT_WERROR)
  target_compile_options(weft_build_flags INTERFACE -Werror)
endif()

# "address,undefined" or "thread". Applies to everything, since mixing
# instrumented and plain objects gives false reports.
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for the whole build")
if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # moodycamel's queue has fences, of which GCC says that TSan does not know
    # them. Weft's own protocols have none (see tests/model).
    target_compile_options(weft_build_flags INTERFACE -Wno-tsan)
  endif()
endif()

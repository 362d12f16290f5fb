# Warnings for everybody, hardening for release, sanitizers on request.

# How we build is not how others must: whoever links the installed libraries
# gets their include path and what they were compiled with, nothing else.
add_library(troupe_options INTERFACE)
target_include_directories(troupe_options INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR};${CMAKE_INSTALL_INCLUDEDIR}/troupe>")
target_compile_features(troupe_options INTERFACE cxx_std_20)
function(troupe_compile_options)
  foreach(option IN LISTS ARGN)
    target_compile_options(troupe_options INTERFACE
      "$<BUILD_INTERFACE:${option}>")
  endforeach()
endfunction()
troupe_compile_options(-Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside inlined standard and Boost code; the last one
  # for every coroutine frame of Asio's.
  troupe_compile_options(-Wno-maybe-uninitialized -Wno-restrict
    -Wno-mismatched-new-delete)
  # Lets ccache see through precompiled headers.
  troupe_compile_options(-fpch-preprocess)
endif()
target_compile_definitions(troupe_options INTERFACE
  "$<BUILD_INTERFACE:TROUPE_VERSION=\"${PROJECT_VERSION}\">"
  "$<BUILD_INTERFACE:BOOST_ASIO_NO_DEPRECATED>"
  # Asio, Beast and JSON are compiled once, in net/ and runtime/.
  BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_BEAST_SEPARATE_COMPILATION
  "$<BUILD_INTERFACE:SPDLOG_COMPILED_LIB;SPDLOG_FMT_EXTERNAL>")

if(TROUPE_SANITIZE)
  troupe_compile_options(
    -fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -g1
    -fno-sanitize-recover=all)
  target_link_options(troupe_options INTERFACE -fsanitize=${TROUPE_SANITIZE})
elseif(CMAKE_BUILD_TYPE MATCHES "^(Rel|MinSizeRel)")
  troupe_compile_options(
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
    -fstack-clash-protection -fcf-protection=full
    -D_GLIBCXX_ASSERTIONS)
  target_link_options(troupe_options INTERFACE
    "$<BUILD_INTERFACE:-Wl,-z,relro,-z,now,-z,noexecstack>")
  set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -pie")
endif()

# libFuzzer learns from what the rooms do, not only from the targets.
if(TROUPE_FUZZ)
  target_compile_options(troupe_options INTERFACE -fsanitize=fuzzer-no-link
    # Clang 14 cannot put these into coroutines.
    -fno-sanitize=vptr,function)
endif()

# Release is optimised but not at any price in compile time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()

# Files that share headers are compiled a few at a time: a clean build takes
# half as long, and touching one file still costs seconds. It asks that no two
# of them give different things one name; those that do, or are long enough,
# are named after APART.
function(compile_together target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# What only tests contain is compiled fast, not to be fast: half the time of a
# clean `./dev test` is theirs.
function(compile_fast target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
endfunction()

# Helpers that stand inside of a file's one suite have its name around them, so
# such files go together; where they stand before it, the file goes alone.
function(compile_tests_together target)
  set(apart "")
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" suites REGEX "^BOOST_[A-Z]+_TEST_SUITE\\(")
    list(LENGTH suites count)
    if(NOT count EQUAL 1 OR suites MATCHES "FIXTURE")
      list(APPEND apart "${source}")
    endif()
  endforeach()
  compile_together(${target} ${apart})
endfunction()

# What a room's tests never need, on however busy a machine: who hangs in one
# case says so long before (tests/support/watch.hpp).
if(TROUPE_SANITIZE)
  set(TROUPE_TEST_SECONDS 3000)
else()
  set(TROUPE_TEST_SECONDS 1200)
endif()

# What every file of tests is compiled with; PCH is a header, or the target that
# compiled it already.
function(compile_as_test target pch)
  target_link_libraries(${target} PUBLIC
    troupe_options Boost::unit_test_framework)
  compile_fast(${target})
  target_compile_definitions(${target} PRIVATE BOOST_TEST_DYN_LINK
    TROUPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    TROUPE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(TARGET "${pch}")
    target_precompile_headers(${target} REUSE_FROM ${pch})
  elseif(pch)
    target_precompile_headers(${target} PRIVATE "${pch}")
  endif()
endfunction()

# test_program(NAME SOURCES <files> LINK <libraries> PCH <file or target>)
# makes one executable of Boost.Test cases, `test_NAME`.
function(test_program name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;LINK" ${ARGN})
  set(target test_${name})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  compile_tests_together(${target} ${ARG_SOURCES})
  compile_as_test(${target} "${ARG_PCH}")
endfunction()

# room_tests(ROOM FOLDER <tests/...> [PARTS <name> <regex>...] LINK ... PCH ...)
# makes one program of a room's tests, `test_ROOM`, and one of each part of it,
# whose folders match: none is to run for minutes. Registers them with ctest.
function(room_tests room)
  cmake_parse_arguments(ARG "" "FOLDER;PCH" "PARTS;LINK;EXCEPT" ${ARGN})
  file(GLOB_RECURSE rest CONFIGURE_DEPENDS "${ARG_FOLDER}/*_test.cpp")
  if(ARG_EXCEPT)
    list(FILTER rest EXCLUDE REGEX "/tests/${ARG_EXCEPT}/")
  endif()
  set(programs "")
  while(ARG_PARTS)
    list(POP_FRONT ARG_PARTS part folders)
    set(mine ${rest})
    list(FILTER mine INCLUDE REGEX "/tests/${ARG_FOLDER}/(${folders})/")
    list(FILTER rest EXCLUDE REGEX "/tests/${ARG_FOLDER}/(${folders})/")
    list(APPEND programs ${room}_${part})
    set(sources_${room}_${part} ${mine})
  endwhile()
  if(rest)
    list(APPEND programs ${room})
    set(sources_${room} ${rest})
  endif()
  foreach(name IN LISTS programs)
    test_program(${name} SOURCES ${sources_${name}} LINK ${ARG_LINK}
      PCH "${ARG_PCH}")
    if(NOT TARGET "${ARG_PCH}")
      set(ARG_PCH test_${name})
    endif()
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${TROUPE_TEST_SECONDS})
  endforeach()
endfunction()

# embed_files(VARIABLE FUNCTION <troupe::name> BASE <dir> FILES <files>)
#
# Puts files into the binary: VARIABLE is set to a generated source that defines
#   std::span<const troupe::embedded_file> FUNCTION();
# (runtime/base/embedded_file.hpp). Each file is named by its path below BASE, so no
# path of the build machine gets in. FILES are absolute; a file outside of BASE
# (a generated one) is written as NAME=FILE.
set(EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed_files_script.cmake")

function(embed_files variable)
  cmake_parse_arguments(ARG "" "FUNCTION;BASE" "FILES" ${ARGN})
  string(MAKE_C_IDENTIFIER "${ARG_FUNCTION}" stem)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${stem}.cpp")
  set(list "${CMAKE_CURRENT_BINARY_DIR}/embedded/${stem}.list")
  set(lines "")
  set(depends "")
  foreach(entry IN LISTS ARG_FILES)
    if(entry MATCHES "^([^=]+)=(.+)$")
      set(name "${CMAKE_MATCH_1}")
      set(file "${CMAKE_MATCH_2}")
    else()
      set(file "${entry}")
      file(RELATIVE_PATH name "${ARG_BASE}" "${file}")
    endif()
    string(APPEND lines "${name}=${file}\n")
    list(APPEND depends "${file}")
  endforeach()
  file(CONFIGURE OUTPUT "${list}" CONTENT "${lines}" @ONLY)
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${list}" "-DOUTPUT=${output}"
      "-DFUNCTION=${ARG_FUNCTION}" -P "${EMBED_SCRIPT}"
    DEPENDS ${depends} "${list}" "${EMBED_SCRIPT}"
    COMMENT "Embedding files for ${ARG_FUNCTION}()" VERBATIM)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

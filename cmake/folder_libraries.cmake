# Every folder of the engine is a library, and tests/arrows.txt says which others
# it links: what a folder may include and what it may link are one table. A new
# folder needs its line there and nothing here.
#
#   runtime/model/codec -> runtime/model      troupe_runtime_model_codec
#
# Folders behind `=>` live inside of interpreters: whoever makes the modules
# compiles them.
set(TROUPE_ARROWS "${CMAKE_SOURCE_DIR}/tests/arrows.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${TROUPE_ARROWS}")
file(STRINGS "${TROUPE_ARROWS}" arrows REGEX "^[a-z][^ ]* [-=]>")
set(TROUPE_FOLDERS "")
foreach(arrow IN LISTS arrows)
  string(REGEX MATCH "^([^ ]+) ([-=])>([^#]*)" ignored "${arrow}")
  set(folder "${CMAKE_MATCH_1}")
  set(kind_of_${folder} "${CMAKE_MATCH_2}")
  string(STRIP "${CMAKE_MATCH_3}" below)
  string(REPLACE " " ";" below_${folder} "${below}")
  list(APPEND TROUPE_FOLDERS "${folder}")
endforeach()

function(library_of folder result)
  string(REPLACE "/" "_" name "${folder}")
  set(${result} "troupe_${name}" PARENT_SCOPE)
endfunction()

# folder_library(FOLDER SOURCES...): with neither options nor headers of a room.
function(folder_library folder)
  library_of("${folder}" target)
  set(linked troupe_options)
  foreach(other IN LISTS below_${folder})
    if(NOT other IN_LIST TROUPE_FOLDERS)
      message(FATAL_ERROR "tests/arrows.txt: ${folder} may include ${other}, "
        "which has no line of its own. Write one, or correct the name.")
    endif()
    library_of("${other}" below)
    list(APPEND linked ${below})
  endforeach()
  if(ARGN)
    add_library(${target} STATIC ${ARGN})
    target_link_libraries(${target} PUBLIC ${linked} Threads::Threads)
  else() # headers alone
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${linked})
  endif()
endfunction()

# engine_room(ROOM [DEPENDS <rooms>] [PCH <header>] [APART <files>]
#             [OPTIONS <flags>])
#
# Makes the libraries of a room's folders, and `troupe_ROOM`, which stands for
# all of them and the rooms below, for tests and benchmarks. The header is
# compiled once for the whole room. APART: see compile_together.
function(engine_room room)
  cmake_parse_arguments(ROOM "" "PCH" "DEPENDS;APART;OPTIONS" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
    "${CMAKE_SOURCE_DIR}/${room}/*.cpp" "${CMAKE_SOURCE_DIR}/${room}/*.hpp")
  foreach(file IN LISTS files)
    get_filename_component(folder "${file}" DIRECTORY)
    if(NOT folder IN_LIST TROUPE_FOLDERS)
      message(FATAL_ERROR "${file}: its folder has no line in "
        "tests/arrows.txt. Write one that names the folders it may include, "
        "for example `${folder} -> runtime/base`.")
    endif()
    if(file MATCHES "\\.cpp$" AND NOT file MATCHES "/main\\.cpp$")
      list(APPEND sources_${folder} "${CMAKE_SOURCE_DIR}/${file}")
    endif()
  endforeach()
  if(ROOM_PCH)
    set(pch troupe_${room}_pch)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp"
      CONTENT "// Only its header counts.\n")
    add_library(${pch} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp")
    target_link_libraries(${pch} PRIVATE troupe_options)
    target_precompile_headers(${pch} PRIVATE "${CMAKE_SOURCE_DIR}/${ROOM_PCH}")
  endif()
  add_library(troupe_${room} INTERFACE)
  list(TRANSFORM ROOM_DEPENDS PREPEND troupe_)
  target_link_libraries(troupe_${room} INTERFACE ${ROOM_DEPENDS})
  foreach(folder IN LISTS TROUPE_FOLDERS)
    if(NOT folder MATCHES "^${room}/" OR kind_of_${folder} STREQUAL "=")
      continue()
    endif()
    folder_library("${folder}" ${sources_${folder}})
    library_of("${folder}" target)
    target_link_libraries(troupe_${room} INTERFACE ${target})
    if(sources_${folder})
      target_compile_options(${target} PRIVATE ${ROOM_OPTIONS})
      compile_together(${target})
      if(ROOM_PCH)
        target_precompile_headers(${target} REUSE_FROM ${pch})
      endif()
    endif()
  endforeach()
  list(TRANSFORM ROOM_APART PREPEND "${CMAKE_SOURCE_DIR}/")
  set_source_files_properties(${ROOM_APART} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

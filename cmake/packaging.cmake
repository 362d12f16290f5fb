# What `cmake --install` puts where: the binary (app/) as component `troupe`, and
# as component `dev` the public headers, the rooms as static libraries, and
# find_package(troupe). Packages are made of these: packaging/.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")

# The libraries that `target` needs, itself included: rooms split themselves
# without telling us.
function(own_libraries target result)
  set(found ${${result}})
  if(NOT target IN_LIST found)
    list(APPEND found ${target})
    get_target_property(needed ${target} INTERFACE_LINK_LIBRARIES)
    foreach(item IN LISTS needed)
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
      if(item MATCHES "^troupe_" AND TARGET ${item})
        own_libraries(${item} found)
      endif()
    endforeach()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(exported "")
own_libraries(troupe_app_embed exported)
foreach(target IN LISTS exported)
  string(REPLACE "troupe_" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
set_target_properties(troupe_app_embed PROPERTIES EXPORT_NAME embed)
install(TARGETS ${exported}
  EXPORT troupe_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/troupe" COMPONENT dev)
install(EXPORT troupe_targets
  NAMESPACE troupe::
  FILE troupeTargets.cmake
  DESTINATION "${package_dir}" COMPONENT dev)

# <troupe/engine.hpp> is the public face: the standard library and nothing else.
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/troupe"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
# For those who want the whole engine: <actors/engine/engine_host.hpp> and what it is
# made of.
foreach(room runtime storage actors)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/${room}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/troupe" COMPONENT dev
    FILES_MATCHING PATTERN "*.hpp" PATTERN "precompiled.hpp" EXCLUDE)
endforeach()

# Programs to begin with, built where they are installed.
install(DIRECTORY "${CMAKE_SOURCE_DIR}/examples/"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT dev)

# The log of the binary is not everybody's.
set(TROUPE_NEEDS_SPDLOG OFF)
if("troupe_app_logging" IN_LIST exported)
  set(TROUPE_NEEDS_SPDLOG ON)
endif()
configure_package_config_file(
  "${CMAKE_SOURCE_DIR}/cmake/troupeConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/troupeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 every minor version may change the headers.
write_basic_package_version_file(
  "${CMAKE_BINARY_DIR}/troupeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/troupeConfig.cmake"
  "${CMAKE_BINARY_DIR}/troupeConfigVersion.cmake"
  "${CMAKE_SOURCE_DIR}/cmake/FindCAF.cmake"
  DESTINATION "${package_dir}" COMPONENT dev)

# All that is installed and not the binary: `./dev deb` builds it.
add_custom_target(installed_libraries DEPENDS ${exported})

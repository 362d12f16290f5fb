# cmake -DSOURCE= -DOUTPUT= -P write_commit.cmake
find_package(Git QUIET)
set(commit "")
if(Git_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${SOURCE}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#include \"app/daemon/build_commit.hpp\"
namespace troupe {
std::string_view build_commit() {
  return \"${commit}\";
}
} // namespace troupe
")

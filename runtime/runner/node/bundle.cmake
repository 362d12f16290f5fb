# Makes the transpiler's bundle: SOURCE (this folder), WORK (a scratch folder),
# OUTPUT. Without npm or its registry the output is a short note instead, and
# every TypeScript run says so: the build of everything else must not depend on
# the network.
file(MAKE_DIRECTORY "${WORK}")
file(COPY "${SOURCE}/package.json" "${SOURCE}/package-lock.json"
  "${SOURCE}/transpiler.entry.cjs" DESTINATION "${WORK}")
find_program(NPM npm)
set(reason "npm was not found")
if(NPM)
  set(reason "")
  foreach(step "ci;--ignore-scripts;--no-audit;--no-fund;--loglevel=error" "run;--silent;bundle")
    execute_process(COMMAND "${NPM}" ${step} WORKING_DIRECTORY "${WORK}"
      RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT 300)
    if(failed)
      list(GET step 0 name)
      set(reason "npm ${name} failed: ${err}${out}")
      break()
    endif()
  endforeach()
endif()
if(NOT reason AND EXISTS "${WORK}/transpiler.cjs")
  file(COPY_FILE "${WORK}/transpiler.cjs" "${OUTPUT}")
else()
  message(WARNING "TypeScript tools will be unavailable: ${reason}\n"
    "./dev build tries again.")
  file(WRITE "${OUTPUT}" "// unavailable\n")
endif()

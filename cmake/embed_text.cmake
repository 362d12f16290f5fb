# embed_text(NAME FILE OUT) writes a source with
#   namespace troupe::net { extern const std::string_view NAME; }
# whose value is the file's text, and appends it to the list OUT. In pieces:
# compilers bound the length of one literal.
set(EMBED_TEXT_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/write_text.cmake")

function(embed_text name file out)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  set(input "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  add_custom_command(OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" -DNAME=${name} -DINPUT=${input}
            -DOUTPUT=${source} -P "${EMBED_TEXT_SCRIPT}"
    DEPENDS "${input}" "${EMBED_TEXT_SCRIPT}"
    VERBATIM)
  set(${out} ${${out}} "${source}" PARENT_SCOPE)
endfunction()

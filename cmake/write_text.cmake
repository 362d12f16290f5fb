# cmake -DNAME= -DINPUT= -DOUTPUT= -P write_text.cmake
file(READ "${INPUT}" digits HEX)
string(LENGTH "${digits}" count)
math(EXPR bytes "${count} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," digits "${digits}")
string(REGEX REPLACE
  "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
  "\\1\n" digits "${digits}")
file(WRITE "${OUTPUT}" "#include <string_view>
namespace troupe::net {
namespace {
constexpr unsigned char bytes[] = {
${digits}0};
}
extern const std::string_view ${NAME};
const std::string_view ${NAME}{reinterpret_cast<const char*>(bytes), ${bytes}};
} // namespace troupe::net
")

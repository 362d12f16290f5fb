#include "net/providers/multipart.hpp"

#include "runtime/model/ids.hpp"

namespace troupe::net {

form_part form_field(std::string_view name, std::string_view content) {
  return {"name=\"" + std::string{name} + "\"", {}, content};
}

form_part form_file(std::string_view name, std::string_view filename,
                    std::string_view content) {
  return {"name=\"" + std::string{name} + "\"; filename=\""
            + std::string{filename} + "\"",
          "application/octet-stream", content};
}

std::string make_boundary() {
  return "troupe-" + make_uuid();
}

std::string form_type(std::string_view boundary) {
  return "multipart/form-data; boundary=" + std::string{boundary};
}

std::string form_body(std::span<const form_part> parts,
                      std::string_view boundary) {
  std::string out;
  for (const auto& part : parts) {
    out.append("--").append(boundary);
    out.append("\r\nContent-Disposition: form-data; ");
    out.append(part.disposition).append("\r\n");
    if (!part.type.empty())
      out.append("Content-Type: ").append(part.type).append("\r\n");
    out.append("\r\n").append(part.content).append("\r\n");
  }
  return out.append("--").append(boundary).append("--\r\n");
}

} // namespace troupe::net

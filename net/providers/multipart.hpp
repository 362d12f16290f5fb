#pragma once

#include <span>
#include <string>
#include <string_view>

/// Forms with files in them (RFC 7578), as providers take uploads.
namespace troupe::net {

struct form_part {
  std::string disposition; // after "form-data; "
  std::string type{};      // "": a plain field
  std::string_view content;
};

form_part form_field(std::string_view name, std::string_view content);
/// Names must be ours: they are not escaped.
form_part form_file(std::string_view name, std::string_view filename,
                    std::string_view content);

/// Random, so that no content can hold it.
std::string make_boundary();
std::string form_type(std::string_view boundary);
std::string form_body(std::span<const form_part> parts,
                      std::string_view boundary);

} // namespace troupe::net

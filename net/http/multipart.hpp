#pragma once

#include "runtime/base/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// One part of a received form.
struct form_entry {
  std::string name;
  std::string filename{}; // "": a plain field
  std::string type{};
  std::string_view content; // in the body that was parsed
};

/// The parts of a form, by its `Content-Type`. One that does not end is cut
/// off, and refused as a whole.
result<std::vector<form_entry>> parse_form(std::string_view content_type,
                                           std::string_view body);

} // namespace troupe::net

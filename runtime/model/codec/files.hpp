#pragma once

#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/run.hpp"

/// Files and displays of a run in JSON. Private to this folder.
namespace troupe::codec {

/// {"name": "text", "other": {"base64": "..."}}
json::object files_by_name(const std::vector<run_file>& files);

void write_files(json::writer& w, const run_result& r);
void read_files(json::reader& in, run_result& r);

} // namespace troupe::codec

#pragma once

#include <string_view>

namespace troupe::net::mcp {

class request_call;

/// What carries out a request of a method.
using method_work = void (*)(request_call&);

struct method_entry {
  std::string_view name;
  bool modern = true;
  bool legacy = true;
  /// The member of `params` that the field Mcp-Name repeats; "": none.
  std::string_view named{};
  method_work work = nullptr;
};

/// Null: there is no such method.
const method_entry* find_method(std::string_view name);
bool is_modern_method(std::string_view name);
std::string_view named_member(std::string_view method);

void list_tools(request_call& call);
void call_tool(request_call& call);
void list_resources(request_call& call);
void list_resource_templates(request_call& call);
void read_resource(request_call& call);
void complete(request_call& call);
void discover(request_call& call);
void listen(request_call& call);
void ping(request_call& call);
void set_log_level(request_call& call);

} // namespace troupe::net::mcp

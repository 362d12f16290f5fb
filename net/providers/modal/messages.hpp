#pragma once

#include "net/grpc/protobuf.hpp"
#include "net/providers/modal/provider.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Modal's messages: bodies to send and answers to read, by field number.
namespace troupe::net::modal {

using string_map = std::map<std::string, std::string>;

// -- requests ----------------------------------------------------------------

std::string app_request(std::string_view app, std::string_view environment);
std::string environment_request(std::string_view environment);

/// One layer: on `base` when it is not the first.
struct image_layer {
  std::string base;
  std::vector<std::string> commands;
};
std::string image_request(const image_layer& layer, std::string_view app,
                          std::string_view builder_version);
std::string image_join_request(std::string_view image,
                               std::string_view last_entry);

struct sandbox_create_request {
  std::string app;
  std::string image;
  std::vector<std::string> entrypoint;
  std::uint32_t timeout_seconds = 0;
  std::uint32_t memory_mb = 0;
  std::uint32_t milli_cpu = 0;
  network_policy network;
  string_map tags;
  environment env;                  // the newer generation: as it is
  std::vector<std::string> secrets; // the older one: stored before, by id
};
/// Refuses what Modal cannot express, such as ports in an allow list.
result<std::string> sandbox_body(const sandbox_create_request& r);

/// Variables that go when the last sandbox with them is gone.
std::string secret_request(const environment& env,
                           std::string_view environment_name);
std::string sandbox_id_request(std::string_view sandbox);
std::string list_request(std::string_view app, const string_map& tags,
                         double before);
/// How it is right now, without waiting.
std::string wait_request(std::string_view sandbox);
/// By the sandbox's id, or the task's for the older generation.
std::string router_access_request(std::string_view id);

struct exec_request {
  std::string task;
  std::string exec;
  std::vector<std::string> argv;
  std::uint32_t timeout_seconds = 0;
  std::string cwd;
  environment env;
};
std::string exec_start_request(const exec_request& r);
std::string stdio_read_request(std::string_view task, std::string_view exec,
                               std::uint64_t offset, bool is_err);
std::string stdin_write_request(std::string_view task, std::string_view exec,
                                std::uint64_t offset, std::string_view data,
                                bool eof);
std::string exec_request_of(std::string_view task, std::string_view exec);

// -- answers -----------------------------------------------------------------

/// The text in one field, as most answers are: an id.
result<std::string> text_field(std::string_view bytes, int number);
result<std::string> builder_version_of(std::string_view bytes);

struct image_state {
  std::string id;
  std::string entry; // where the next join goes on
  int status = 0;    // 0: still being built, 1: done, else failed
  std::string reason;
  std::string log; // what the build printed
};
result<image_state> read_image(std::string_view bytes);
result<image_state> read_image_join(std::string_view bytes);

struct sandbox_answer {
  std::string id;
  std::string task;
  std::string jwt;
  std::string router_url;
};
result<sandbox_answer> read_sandbox(std::string_view bytes);
result<sandbox_answer> read_router_access(std::string_view bytes);
/// Whether the answer to `wait_request` tells an end.
bool has_ended(std::string_view bytes);
struct task_state {
  std::string task; // "": not started yet
  bool ended = false;
};
result<task_state> read_task(std::string_view bytes);

struct list_answer {
  std::vector<std::pair<std::string, string_map>> sandboxes; // id, tags
  double oldest = 0; // where the next page goes on
};
result<list_answer> read_list(std::string_view bytes);

/// Nothing while it runs.
result<std::optional<process_end>> read_exec_wait(std::string_view bytes);

/// When a JWT ends, in seconds since 1970; nothing when it does not say.
std::optional<std::int64_t> jwt_expiry(std::string_view token);

/// The layers of an image with these packages.
std::vector<image_layer> image_layers(const sandbox_request& wanted,
                                      const modal_options& options);

} // namespace troupe::net::modal

#include "net/fail.hpp"
#include "net/providers/modal_messages.hpp"
#include "runtime/frame/base64.hpp"
#include "runtime/json/json.hpp"

#include <bit>

namespace troupe::net::modal {

namespace pb = protobuf;

namespace {

constexpr std::size_t max_reason_bytes = 500;

template <class Take>
result<void> walk(std::string_view bytes, Take take) {
  pb::reader fields{bytes};
  for (pb::field f; fields.next(f);)
    take(f);
  return fields.status();
}

void read_result(std::string_view bytes, image_state& into) {
  (void)walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      into.status = static_cast<int>(f.value);
    if (f.number == 2)
      into.reason = json::repair_utf8(f.bytes.substr(0, max_reason_bytes));
  });
}

} // namespace

result<std::string> text_field(std::string_view bytes, int number) {
  std::string out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == number)
      out = f.bytes;
  });
  if (!read)
    return read.error();
  if (out.empty())
    return fail(ec::unavailable, "Modal's answer lacks an id");
  return out;
}

result<std::string> builder_version_of(std::string_view bytes) {
  // {2: metadata {2: settings {1: version}}}
  std::string_view metadata, settings;
  std::string version;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 2)
      metadata = f.bytes;
  });
  if (!read)
    return read.error();
  (void)walk(metadata, [&](const pb::field& f) {
    if (f.number == 2)
      settings = f.bytes;
  });
  (void)walk(settings, [&](const pb::field& f) {
    if (f.number == 1)
      version = f.bytes;
  });
  return version;
}

result<image_state> read_image(std::string_view bytes) {
  image_state out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      out.id = f.bytes;
    if (f.number == 2)
      read_result(f.bytes, out);
  });
  if (!read)
    return read.error();
  if (out.id.empty())
    return fail(ec::unavailable, "Modal gave the image no id");
  return out;
}

result<image_state> read_image_join(std::string_view bytes) {
  image_state out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      read_result(f.bytes, out);
    if (f.number == 3)
      out.entry = f.bytes;
  });
  if (!read)
    return read.error();
  return out;
}

result<sandbox_answer> read_router_access(std::string_view bytes) {
  sandbox_answer out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      out.jwt = f.bytes;
    if (f.number == 2)
      out.router_url = f.bytes;
  });
  if (!read)
    return read.error();
  return out;
}

bool has_ended(std::string_view bytes) {
  bool ended = false;
  (void)walk(bytes, [&](const pb::field& f) { ended |= f.number == 1; });
  return ended;
}

result<task_state> read_task(std::string_view bytes) {
  task_state out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      out.task = f.bytes;
    if (f.number == 2)
      out.ended = true;
  });
  if (!read)
    return read.error();
  return out;
}

result<sandbox_answer> read_sandbox(std::string_view bytes) {
  sandbox_answer out;
  std::string_view access;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number == 1)
      out.id = f.bytes;
    if (f.number == 3)
      out.task = f.bytes;
    if (f.number == 5)
      access = f.bytes;
  });
  if (!read)
    return read.error();
  if (out.id.empty())
    return fail(ec::unavailable, "Modal gave the sandbox no id");
  auto router = read_router_access(access);
  if (!router)
    return router.error();
  out.jwt = router->jwt;
  out.router_url = router->router_url;
  return out;
}

result<list_answer> read_list(std::string_view bytes) {
  list_answer out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number != 1)
      return;
    auto& [id, tags] = out.sandboxes.emplace_back();
    (void)walk(f.bytes, [&, &id = id, &tags = tags](const pb::field& g) {
      if (g.number == 1)
        id = g.bytes;
      if (g.number == 3)
        out.oldest = std::bit_cast<double>(g.value);
      if (g.number != 6)
        return;
      std::string name, value;
      (void)walk(g.bytes, [&](const pb::field& h) {
        (h.number == 1 ? name : value) = h.bytes;
      });
      tags[name] = value;
    });
  });
  if (!read)
    return read.error();
  return out;
}

result<std::optional<command_end>> read_exec_wait(std::string_view bytes) {
  std::optional<command_end> out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number != 1 && f.number != 2)
      return;
    out.emplace();
    out->signaled = f.number == 2;
    auto number = static_cast<std::int32_t>(f.value);
    out->exit_code = out->signaled ? 128 + number : number;
  });
  if (!read)
    return read.error();
  return out;
}

std::optional<std::int64_t> jwt_expiry(std::string_view token) {
  auto first = token.find('.');
  auto second = token.find('.', first == token.npos ? first : first + 1);
  if (second == token.npos)
    return {};
  std::string payload{token.substr(first + 1, second - first - 1)};
  for (auto& c : payload)
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (payload.size() % 4 != 0)
    payload += '=';
  auto text = frame::from_base64(payload);
  auto body
    = text ? json::parse_object(*text) : result<json::object>{text.error()};
  if (!body)
    return {};
  auto* exp = body->if_contains("exp");
  if (!exp || !exp->is_int64())
    return {};
  return exp->as_int64();
}

} // namespace troupe::net::modal

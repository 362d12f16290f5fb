#include "net/providers/modal/messages.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

#include <bit>
#include <initializer_list>

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

/// Texts and messages by their numbers; the last one counts, as everywhere in
/// protobuf.
struct wanted {
  int number;
  std::string_view* into;
};

result<void> pick(std::string_view bytes,
                  std::initializer_list<wanted> fields) {
  return walk(bytes, [&](const pb::field& f) {
    for (const auto& each : fields)
      if (f.number == each.number)
        *each.into = f.bytes;
  });
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
  std::string_view out;
  if (auto read = pick(bytes, {{number, &out}}); !read)
    return read.error();
  if (out.empty())
    return fail(ec::unavailable, "Modal's answer lacks an id");
  return std::string{out};
}

result<std::string> builder_version_of(std::string_view bytes) {
  // {2: metadata {2: settings {1: version}}}
  std::string_view metadata, settings, version;
  if (auto read = pick(bytes, {{2, &metadata}}); !read)
    return read.error();
  (void)pick(metadata, {{2, &settings}});
  (void)pick(settings, {{1, &version}});
  return std::string{version};
}

result<image_state> read_image(std::string_view bytes) {
  std::string_view id, end;
  if (auto read = pick(bytes, {{1, &id}, {2, &end}}); !read)
    return read.error();
  if (id.empty())
    return fail(ec::unavailable, "Modal gave the image no id");
  image_state out;
  out.id = id;
  read_result(end, out);
  return out;
}

result<image_state> read_image_join(std::string_view bytes) {
  std::string_view end, entry;
  if (auto read = pick(bytes, {{1, &end}, {3, &entry}}); !read)
    return read.error();
  image_state out;
  out.entry = entry;
  (void)walk(bytes, [&](const pb::field& f) {
    std::string_view line;
    if (f.number == 2 && pick(f.bytes, {{1, &line}}))
      out.log += line;
  });
  read_result(end, out);
  return out;
}

result<sandbox_answer> read_router_access(std::string_view bytes) {
  std::string_view jwt, url;
  if (auto read = pick(bytes, {{1, &jwt}, {2, &url}}); !read)
    return read.error();
  sandbox_answer out;
  out.jwt = jwt;
  out.router_url = url;
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
  std::string_view id, task, access;
  if (auto read = pick(bytes, {{1, &id}, {3, &task}, {5, &access}}); !read)
    return read.error();
  if (id.empty())
    return fail(ec::unavailable, "Modal gave the sandbox no id");
  auto out = read_router_access(access);
  if (!out)
    return out.error();
  out->id = id;
  out->task = task;
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
      std::string_view name, value;
      (void)pick(g.bytes, {{1, &name}, {2, &value}});
      tags[std::string{name}] = value;
    });
  });
  if (!read)
    return read.error();
  return out;
}

result<std::optional<process_end>> read_exec_wait(std::string_view bytes) {
  std::optional<process_end> out;
  auto read = walk(bytes, [&](const pb::field& f) {
    if (f.number != 1 && f.number != 2)
      return;
    out.emplace();
    out->signaled = f.number == 2;
    auto number = static_cast<std::int32_t>(f.value);
    out->exit_code = out->signaled ? 128 + number : number;
    out->signal = out->signaled ? number : 0;
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

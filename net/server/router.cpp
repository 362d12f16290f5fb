#include "net/server/router.hpp"

namespace troupe::net {

namespace {

constexpr auto nowhere = static_cast<std::size_t>(-1);

std::uint8_t bit(method m) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(m));
}

/// The first segment of "/a/b", and what follows it: "/b".
std::string_view take_segment(std::string_view& rest) {
  rest.remove_prefix(1);
  auto slash = rest.find('/');
  auto segment = rest.substr(0, slash);
  rest
    = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
  return segment;
}

} // namespace

std::size_t router::child(std::size_t at, std::string_view segment) {
  auto fresh = nodes_.size();
  if (segment.size() > 2 && segment.front() == '{') {
    if (nodes_[at].param != 0)
      return nodes_[at].param;
    nodes_[at].param = fresh;
    nodes_.emplace_back();
    nodes_.back().rest = segment.find("...") != std::string_view::npos;
    return fresh;
  }
  for (const auto& [name, next] : nodes_[at].literals)
    if (name == segment)
      return next;
  nodes_[at].literals.emplace_back(segment, fresh);
  nodes_.emplace_back();
  return fresh;
}

void router::add(method verb, std::string path, route_handler handle,
                 route_rules rules) {
  auto& added = routes_.emplace_back();
  added.verb = verb;
  added.path = std::move(path);
  added.rules = rules;
  added.handle = std::move(handle);
  added.index = routes_.size() - 1;
  std::size_t at = 0;
  std::string_view rest{added.path};
  while (rest.size() > 1)
    at = child(at, take_segment(rest));
  nodes_[at].by_method[static_cast<std::size_t>(verb)] = &added;
}

void router::style(std::string prefix, error_writer writer) {
  styles_.emplace_back(std::move(prefix), writer);
}

error_writer router::style_of(std::string_view path) const {
  for (const auto& [prefix, writer] : styles_)
    if (path.starts_with(prefix))
      return writer;
  return nullptr;
}

void router::redirect(std::string prefix, path_rule to) {
  redirects_.emplace_back(std::move(prefix), to);
}

std::optional<std::string> router::redirected(const request& in) const {
  const std::string_view path{in.path};
  for (const auto& [prefix, to] : redirects_)
    if (path.starts_with(prefix)
        && (prefix.empty() || path.size() == prefix.size()
            || path[prefix.size()] == '/'))
      return to(in);
  return std::nullopt;
}

std::size_t router::walk(std::size_t at, std::string_view rest,
                         route_match& out) const {
  const auto& here = nodes_[at];
  if (rest.size() <= 1) // at the end, or only a trailing slash is left
    return at;
  auto after = rest;
  auto segment = take_segment(after);
  if (segment.empty())
    return nowhere;
  for (const auto& [name, next] : here.literals)
    if (name == segment)
      if (auto end = walk(next, after, out); end != nowhere && leads(end))
        return end;
  if (here.param == 0 || out.param_count == route_match::max_params)
    return nowhere;
  auto slot = out.param_count++;
  if (nodes_[here.param].rest) {
    out.params[slot] = rest.substr(1);
    return here.param;
  }
  out.params[slot] = segment;
  auto end = walk(here.param, after, out);
  if (end == nowhere)
    out.param_count = slot;
  return end;
}

bool router::leads(std::size_t at) const {
  for (auto* r : nodes_[at].by_method)
    if (r)
      return true;
  return false;
}

route_match router::find(method verb, std::string_view path) const {
  route_match out;
  auto end = path.starts_with('/') ? walk(0, path, out) : nowhere;
  if (end == nowhere)
    return out;
  const auto& here = nodes_[end];
  for (std::size_t i = 0; i < method_count; ++i)
    if (here.by_method[i])
      out.allowed |= bit(static_cast<method>(i));
  out.found = here.by_method[static_cast<std::size_t>(verb)];
  auto* get = here.by_method[static_cast<std::size_t>(method::get)];
  if (!out.found && verb == method::head)
    out.found = get;
  if (out.allowed != 0)
    out.allowed |= bit(method::options);
  if (get)
    out.allowed |= bit(method::head);
  return out;
}

std::string allow_list(std::uint8_t methods) {
  std::string out;
  for (std::size_t i = 0; i < method_count; ++i)
    if (methods & (1u << i)) {
      if (!out.empty())
        out += ", ";
      out += to_string(static_cast<method>(i));
    }
  return out;
}

} // namespace troupe::net

#include "tests/support/providers/fake_e2b_contexts.hpp"

#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_files.hpp"

namespace troupe::test {

namespace {

json::object described(const std::string& id) {
  return {{"id", id}, {"language", "python"}, {"cwd", "/tmp"}};
}

} // namespace

void code_contexts::handle(const stand_request& r, stand_reply& reply) {
  if (r.header("content-type") != "application/json")
    return reply.send(422, "no JSON by its type");
  std::lock_guard guard{mutex_};
  if (r.path == "/contexts" && r.method == "POST") {
    auto body = json::parse_object(r.body);
    if (!body || !has_only(*body, 0, {"language", "cwd"})
        || (body->contains("language") && body->at("language") != "python"))
      return reply.send(422, "not such a context");
    auto id = "context-" + std::to_string(next_++);
    done_[id];
    return reply.json(200, json::to_text(described(id)));
  }
  if (r.path == "/contexts" && r.method == "GET") {
    json::array all;
    for (const auto& [id, done] : done_)
      all.push_back(described(id));
    return reply.json(200, json::to_text(all));
  }
  auto id = r.path.substr(std::string{"/contexts/"}.size());
  auto again = id.ends_with("/restart");
  auto found = done_.find(id.substr(0, id.find('/')));
  if (found == done_.end())
    return reply.send(404, "Context " + id + " not found");
  if (again && r.method == "POST")
    found->second.clear();
  else if (!again && r.method == "DELETE")
    done_.erase(found);
  else
    return reply.send(405, "Method Not Allowed");
  reply.json(200, "null");
}

std::optional<std::string> code_contexts::program(const std::string& id,
                                                  const std::string& first,
                                                  const std::string& code) {
  std::lock_guard guard{mutex_};
  auto found = done_.find(id);
  if (found == done_.end())
    return {};
  if (found->second.empty())
    found->second = first;
  std::string before;
  json::append_string(before, found->second);
  found->second += code + "\n";
  return "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()"
         "):\n    exec("
    + before + ")\n" + code + "\n";
}

} // namespace troupe::test

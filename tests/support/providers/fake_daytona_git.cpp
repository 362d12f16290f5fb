// What the daemon of Daytona does with repositories, by git itself.
#include "tests/support/providers/fake_daytona_toolbox.hpp"
#include "tests/support/providers/fake_files.hpp"

namespace troupe::test {

namespace {

struct git_answer {
  int code = 0;
  std::string text;
};

git_answer run_git(const std::string& where, std::vector<std::string> words) {
  git_answer out;
  program_run what;
  what.argv = {"git", "-C", where};
  what.argv.insert(what.argv.end(), words.begin(), words.end());
  what.env = {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"HOME", "/nonexistent"}};
  what.sink = [&](bool, std::string_view bytes) { out.text += bytes; };
  out.code = run_program(what);
  return out;
}

json::array lines_of(std::string_view text) {
  json::array out;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    out.emplace_back(line);
  }
  return out;
}

std::string text_at(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

/// The words for git, of a call that has a body.
std::vector<std::string> words_for(const std::string& call,
                                   const std::string& method,
                                   const json::object& body) {
  if (call == "clone"
      && has_only(body, 2, {"url", "path", "branch", "username", "password"})) {
    std::vector<std::string> out{"clone", "-q"};
    if (body.contains("branch"))
      out.insert(out.end(), {"-b", text_at(body, "branch")});
    return out;
  }
  if (call == "add" && has_only(body, 2, {"path", "files"})) {
    std::vector<std::string> out{"add", "--"};
    for (const auto& each : body.at("files").as_array())
      out.emplace_back(each.as_string());
    return out;
  }
  if (call == "commit"
      && has_only(body, 4,
                  {"path", "message", "author", "email", "allow_empty"}))
    return {"-c",     "user.name=" + text_at(body, "author"),
            "-c",     "user.email=" + text_at(body, "email"),
            "commit", "-q",
            "-m",     text_at(body, "message")};
  auto remote = has_only(body, 1, {"path", "username", "password"});
  if (call == "push" && remote)
    return {"push", "-q", "origin", "HEAD"};
  if (call == "pull" && remote)
    return {"pull", "-q"};
  if (call == "checkout" && has_only(body, 2, {"path", "branch"}))
    return {"checkout", "-q", text_at(body, "branch")};
  if (call == "branches" && has_only(body, 2, {"path", "name"}))
    return {"branch", method == "DELETE" ? "-D" : "-q", text_at(body, "name")};
  return {};
}

/// Whoever says who he is has to be this one; nobody in particular is let in
/// as well.
bool is_let_in(const json::object& body) {
  auto named = body.contains("username") || body.contains("password");
  return !named
    || (text_at(body, "username") == "me"
        && text_at(body, "password") == "word");
}

} // namespace

void daytona_toolbox::git(const std::string& call, const stand_request& r,
                          stand_reply& reply) const {
  auto failed = [&](int status, const std::string& why) {
    json::object o{{"statusCode", status}, {"message", why}};
    if (status == 401)
      o["code"] = "GIT_AUTH_FAILED";
    reply.json(status, json::to_text(o));
  };
  json::object out;
  if (r.method == "GET") {
    if (!asks_only(r, 1, {"path"}))
      return failed(400, "path, and nothing else");
    auto where = real(r.query.at("path")).string();
    auto branches
      = run_git(where, {"branch", "-a", "--format=%(refname:short)"});
    if (branches.code != 0)
      return failed(400, branches.text);
    if (call == "branches") {
      out["branches"] = lines_of(branches.text);
    } else {
      auto now = run_git(where, {"symbolic-ref", "--short", "HEAD"});
      out["currentBranch"] = now.text.substr(0, now.text.find('\n'));
      json::array status;
      for (const auto& line :
           lines_of(run_git(where, {"status", "--porcelain"}).text))
        status.push_back(
          json::object{{"name", std::string_view{line.as_string()}.substr(3)},
                       {"worktree", "Untracked"},
                       {"staging", "Untracked"},
                       {"extra", ""}});
      out["fileStatus"] = std::move(status);
    }
    return reply.json(200, json::to_text(out));
  }
  auto body = json::parse_object(r.body);
  auto words
    = body ? words_for(call, r.method, *body) : std::vector<std::string>{};
  auto deletes = r.method == "DELETE";
  if (words.empty() || !r.query.empty()
      || (r.method != "POST" && !(deletes && call == "branches")))
    return failed(400, "a member is missing or unknown");
  if (!is_let_in(*body))
    return failed(401, "authentication required");
  auto where = real(text_at(*body, "path"));
  if (call == "clone") {
    words.push_back(translated(text_at(*body, "url")));
    words.push_back(where.string());
    where = root_;
  }
  auto done = run_git(where.string(), words);
  if (done.code != 0)
    return failed(400, done.text);
  if (call != "commit")
    return reply.send(call == "branches" ? 201 : 200);
  auto hash = run_git(where.string(), {"rev-parse", "HEAD"}).text;
  out["hash"] = hash.substr(0, hash.find('\n'));
  reply.json(200, json::to_text(out));
}

} // namespace troupe::test

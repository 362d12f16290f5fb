// git in the sandbox, without pager, editor or prompt.
#include "runtime/toolkit/captured_program.hpp"
#include "runtime/toolkit/missing_file.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::toolkit {

namespace {

constexpr std::chrono::seconds git_patience{40};
constexpr std::chrono::minutes clone_patience{10};

using words = std::vector<std::string>;
using ended = std::function<void(const captured&)>;

process_spec git_program(words arguments) {
  process_spec what;
  what.argv = {"git", "-c", "core.quotepath=off", "-c", "color.ui=false"};
  what.argv.insert(what.argv.end(), arguments.begin(), arguments.end());
  for (auto [name, value] : {std::pair{"LC_ALL", "C"},
                             {"GIT_TERMINAL_PROMPT", "0"},
                             {"GIT_PAGER", "cat"},
                             {"GIT_EDITOR", "true"},
                             {"GIT_ASKPASS", "true"}})
    what.env.emplace(name, secret{value});
  return what;
}

/// git's own words, and what to do about those that come often.
void refuse_git(const call_ptr& call, const captured& done) {
  auto text = plain_text(done.err + done.out);
  if (!text.ends_with('\n'))
    text += '\n';
  const auto has
    = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (done.how.exit_code == 127 || has("git: not found"))
    text += "There is no git in this sandbox.";
  else if (has("not a git repository"))
    text += "Give the repository's folder as path; git_clone makes one.";
  else if (has("Authentication failed") || has("could not read Username"))
    text += "This remote needs credentials, which are not part of a URL: the "
            "sandbox has none.";
  else if (has("Could not resolve host") || has("unable to access"))
    text += "The network of this sandbox may not lead there: sandbox_info "
            "shows its policy.";
  else if (has("fetch first") || has("non-fast-forward"))
    text += "The remote has commits that you lack: git_pull, then push again.";
  else if (has("would be overwritten"))
    text += "Commit the changes, or undo them, first.";
  else if (has("CONFLICT"))
    text += "Edit the files that are in conflict, then git_commit; or run git "
            "merge --abort.";
  else
    text += ending_text(done.how);
  call->refuse(cut_middle(text, call->rules().characters));
}

/// In the repository of the call.
void in_repository(const call_ptr& call, words arguments, ended then) {
  const auto path = path_argument(call, "path", ".");
  if (!path)
    return;
  arguments.insert(arguments.begin(), {"-C", *path});
  run_program(call, git_program(std::move(arguments)), git_patience,
              [call, then = std::move(then)](const captured& done) {
                if (done.fine())
                  then(done);
                else
                  refuse_git(call, done);
              });
}

/// Text that git must not take for an option.
bool is_plain(const call_ptr& call, std::string_view name) {
  if (!call->text(name).starts_with('-'))
    return true;
  call->refuse(std::string{name} + ": must not begin with '-'.");
  return false;
}

words texts(const call_ptr& call, std::string_view name) {
  words all;
  if (const auto* said = call->argument(name); said && said->is_array())
    for (const auto& each : said->get_array())
      if (each.is_string())
        all.emplace_back(each.get_string());
  return all;
}

void answer_output(const call_ptr& call, const captured& done,
                   std::string_view otherwise) {
  auto text = plain_text(done.out);
  if (text.empty())
    text = plain_text(done.err);
  call->answer(text.empty() ? std::string{otherwise}
                            : cut_middle(text, call->most_characters()));
}

// -- looking ------------------------------------------------------------------

void git_status(const call_ptr& call) {
  in_repository(call, {"status", "--branch", "--short"},
                [call](const captured& done) {
                  auto text = plain_text(done.out);
                  if (std::count(text.begin(), text.end(), '\n') <= 1)
                    text += "nothing to commit, working tree clean";
                  call->answer(cut_middle(text, call->rules().characters));
                });
}

void git_diff(const call_ptr& call) {
  if (!is_plain(call, "ref"))
    return;
  words arguments{"diff"};
  if (call->flag("stat"))
    arguments.push_back("--stat");
  if (call->flag("staged"))
    arguments.push_back("--cached");
  if (const auto ref = call->text("ref"); !ref.empty())
    arguments.push_back(ref);
  arguments.push_back("--");
  for (auto& each : texts(call, "files"))
    arguments.push_back(std::move(each));
  in_repository(call, std::move(arguments), [call](const captured& done) {
    answer_output(call, done, "No changes.");
  });
}

void git_log(const call_ptr& call) {
  if (!is_plain(call, "ref"))
    return;
  words arguments{"log", "--date=short", "--pretty=format:%h %ad %an: %s%d",
                  "-n" + std::to_string(call->integer("limit", 20))};
  if (const auto ref = call->text("ref"); !ref.empty())
    arguments.push_back(ref);
  arguments.push_back("--");
  if (const auto file = call->text("file"); !file.empty())
    arguments.push_back(file);
  in_repository(call, std::move(arguments), [call](const captured& done) {
    answer_output(call, done, "No commits.");
  });
}

// -- changing -----------------------------------------------------------------

void git_branch(const call_ptr& call) {
  const auto action = call->text("action", "list"), name = call->text("name");
  if (!is_plain(call, "name") || !is_plain(call, "from"))
    return;
  if (action != "list" && name.empty())
    return call->refuse("name: give the branch to " + action + ".");
  words arguments{"branch", "--all", "-vv"};
  if (action == "create") {
    arguments = {"switch", "-c", name};
    if (const auto from = call->text("from"); !from.empty())
      arguments.push_back(from);
  } else if (action == "switch") {
    arguments = {"switch", name};
  }
  in_repository(call, std::move(arguments), [call](const captured& done) {
    answer_output(call, done, "No branches yet: the first commit makes one.");
  });
}

void commit_staged(const call_ptr& call, words files) {
  const auto name = call->text("author_name", "Troupe"),
             mail = call->text("author_email", "troupe@localhost");
  words arguments;
  // Theirs, where they have one; what git would refuse without is ours.
  if (call->argument("author_name") || call->argument("author_email"))
    arguments = {"-c", "user.name=" + name, "-c", "user.email=" + mail};
  arguments.insert(arguments.end(), {"commit", "-m", call->text("message")});
  if (!files.empty()) {
    arguments.push_back("--");
    arguments.insert(arguments.end(), files.begin(), files.end());
  }
  const auto path = path_argument(call, "path", ".");
  arguments.insert(arguments.begin(), {"-C", *path});
  auto program = git_program(std::move(arguments));
  auto told = [call](const captured& done) {
    if (done.fine())
      answer_output(call, done, "Committed.");
    else
      refuse_git(call, done);
  };
  auto again = program;
  again.argv.insert(again.argv.begin() + 1,
                    {"-c", "user.name=" + name, "-c", "user.email=" + mail});
  run_program(call, std::move(program), git_patience,
              [call, told, again](const captured& done) {
                if (done.fine()
                    || done.err.find("tell me who you are") == done.err.npos)
                  return told(done);
                run_program(call, again, git_patience, told);
              });
}

void git_commit(const call_ptr& call) {
  auto files = texts(call, "files");
  words arguments{"add", "-A", "--"};
  if (files.empty())
    arguments.push_back(".");
  arguments.insert(arguments.end(), files.begin(), files.end());
  in_repository(call, std::move(arguments),
                [call, files](const captured&) { commit_staged(call, files); });
}

// -- remotes ------------------------------------------------------------------

bool is_remote(std::string_view url) {
  for (std::string_view scheme : {"https://", "http://", "ssh://", "git://"})
    if (url.starts_with(scheme))
      return true;
  const auto at = url.find('@'), colon = url.find(':');
  return at != url.npos && colon != url.npos && at < colon
    && !url.starts_with('-') && url.find("::") == url.npos;
}

bool has_password(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos)
    return false;
  const auto place = url.substr(scheme + 3);
  const auto user = place.substr(0, place.find('/'));
  const auto at = user.rfind('@');
  return at != user.npos && user.substr(0, at).find(':') != user.npos;
}

void git_clone(const call_ptr& call) {
  const auto url = call->text("url");
  if (!is_remote(url))
    return call->refuse("url: give one that begins with https://, ssh:// or "
                        "git://, or is of the form user@host:path.");
  if (has_password(url))
    return call->refuse("url: it has a password in it, which would be stored "
                        "in the repository. Give it without.");
  if (!is_plain(call, "branch"))
    return;
  words arguments{"clone"};
  if (const auto depth = call->integer("depth", 0); depth > 0)
    arguments.push_back("--depth=" + std::to_string(depth));
  if (const auto branch = call->text("branch"); !branch.empty())
    arguments.push_back("--branch=" + branch);
  arguments.insert(arguments.end(), {"--", url});
  if (call->argument("path")) {
    const auto path = path_argument(call, "path");
    if (!path)
      return;
    arguments.push_back(*path);
  }
  auto what = git_program(std::move(arguments));
  what.cwd = call->workspace();
  what.timeout = clone_patience;
  run_or_hand_back(call, std::move(what), call->wait(),
                   [call](const captured& done) {
                     if (!done.fine())
                       return refuse_git(call, done);
                     answer_output(call, done, "Cloned.");
                   });
}

void git_pull(const call_ptr& call) {
  if (!is_plain(call, "remote") || !is_plain(call, "branch"))
    return;
  words arguments{"pull", call->flag("rebase") ? "--rebase" : "--no-rebase",
                  call->text("remote", "origin")};
  if (const auto branch = call->text("branch"); !branch.empty())
    arguments.push_back(branch);
  in_repository(call, std::move(arguments), [call](const captured& done) {
    answer_output(call, done, "Up to date.");
  });
}

void git_push(const call_ptr& call) {
  if (!is_plain(call, "remote") || !is_plain(call, "branch"))
    return;
  words arguments{"push", "--set-upstream"};
  if (call->flag("force"))
    arguments.push_back("--force-with-lease");
  arguments.push_back(call->text("remote", "origin"));
  arguments.push_back(call->text("branch", "HEAD"));
  in_repository(call, std::move(arguments), [call](const captured& done) {
    answer_output(call, done, "Pushed.");
  });
}

} // namespace

std::vector<tool_entry> git_tools() {
  return {
    {"git_clone", "Clone a repository", "git",
     "Clones a git repository into the workspace.", "O",
     R"({"url":{"type":"string","maxLength":4096},
"path":{"type":"string","description":"Folder to make; the repository's name if left out."},
"branch":{"type":"string","maxLength":1000},
"depth":{"type":"integer","minimum":1,"description":"Only this many commits."}})",
     R"(["url"])", git_clone},
    {"git_status", "Show the state of the repository", "git",
     "Shows the branch and which files are staged, changed, untracked or in "
     "conflict.",
     "RI",
     R"({"path":{"type":"string","default":".","description":"The repository."}})",
     "[]", git_status},
    {"git_diff", "Show changes", "git",
     "Shows what changed: in the working tree, staged, or against a commit or "
     "range.",
     "RI",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"staged":{"type":"boolean","default":false},
"ref":{"type":"string","maxLength":1000,"description":"Commit or range, such as HEAD~1 or main...HEAD."},
"files":{"type":"array","items":{"type":"string"}},
"stat":{"type":"boolean","default":false},
"max_chars":{"type":"integer","minimum":1000,"maximum":100000,"default":30000,"description":"Cut the result to about this many characters."}})",
     "[]", git_diff},
    {"git_log", "Show history", "git", "Shows the last commits, one line each.",
     "RI",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"limit":{"type":"integer","minimum":1,"maximum":200,"default":20},
"ref":{"type":"string","maxLength":1000},
"file":{"type":"string","maxLength":4096}})",
     "[]", git_log},
    {"git_branch", "List, create or switch branches", "git",
     "Lists branches, creates one, or switches to one.", "",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"action":{"type":"string","enum":["list","create","switch"],"default":"list"},
"name":{"type":"string","maxLength":1000},
"from":{"type":"string","maxLength":1000,"description":"Where a new branch begins; HEAD if left out."}})",
     "[]", git_branch},
    {"git_commit", "Commit", "git", "Stages changes and commits them.", "",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"message":{"type":"string","minLength":1,"maxLength":100000},
"files":{"type":"array","items":{"type":"string"},"description":"Only these; all changes if left out."},
"author_name":{"type":"string","maxLength":1000},
"author_email":{"type":"string","maxLength":1000}})",
     R"(["message"])", git_commit},
    {"git_pull", "Get the remote's commits", "git",
     "Fetches and merges the remote branch.", "O",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"remote":{"type":"string","default":"origin"},
"branch":{"type":"string","maxLength":1000},
"rebase":{"type":"boolean","default":false}})",
     "[]", git_pull},
    {"git_push", "Push commits", "git",
     "Pushes the current branch to the remote.", "DO",
     R"({"path":{"type":"string","default":".","description":"The repository."},
"remote":{"type":"string","default":"origin"},
"branch":{"type":"string","maxLength":1000},
"force":{"type":"boolean","default":false,"description":"Overwrites the remote branch if no other commits came meanwhile."}})",
     "[]", git_push},
  };
}

} // namespace troupe::toolkit

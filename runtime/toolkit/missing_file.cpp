#include "runtime/toolkit/missing_file.hpp"

#include "runtime/json/reader.hpp"

namespace troupe::toolkit {

namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? "/" : path.substr(0, slash);
}

bool is_missing(const sandbox_error& why) {
  return why.code == ec::not_found && why.problem == sandbox_problem::none;
}

} // namespace

void refuse_missing(const call_ptr& call, const std::string& path) {
  const auto what = "There is no " + call->shown(path) + ".";
  const auto folder = folder_of(path);
  auto listed = [call, what, folder,
                 path](sandbox_result<std::vector<sandbox_entry>> all) {
    if (call->over())
      return;
    if (!all) // the folder is missing as well
      return call->refuse(what + " The folder " + call->shown(folder)
                          + " is not there either: file_list shows what is.");
    std::vector<std::string_view> names;
    for (const auto& each : *all)
      names.push_back(each.name);
    const auto slash = path.rfind('/') + 1;
    const auto near
      = json::nearest(std::string_view{path}.substr(slash), names);
    call->refuse(near.empty() ? what
                     + " file_list shows what is there, file_glob finds "
                       "files by name."
                              : what + " Did you mean "
                     + call->shown(path.substr(0, slash) + near) + "?");
  };
  call->engine().list_files(call->who(), call->sandbox(), folder,
                            std::move(listed));
}

void find_entry(const call_ptr& call, const std::string& path,
                std::function<void(std::optional<sandbox_entry>)> then) {
  call->engine().stat_file(
    call->who(), call->sandbox(), path,
    [call, then = std::move(then)](sandbox_result<sandbox_entry> found) {
      if (call->over())
        return;
      if (found)
        then(std::move(*found));
      else if (is_missing(found.error()))
        then(std::nullopt);
      else
        call->fail(found.error());
    });
}

void with_entry(const call_ptr& call, const std::string& path,
                std::function<void(sandbox_entry)> then) {
  find_entry(
    call, path,
    [call, path, then = std::move(then)](std::optional<sandbox_entry> found) {
      if (found)
        then(std::move(*found));
      else
        refuse_missing(call, path);
    });
}

std::optional<std::string> path_argument(const call_ptr& call,
                                         std::string_view name,
                                         std::string_view otherwise) {
  auto path = call->inside(call->text(name, otherwise));
  if (path)
    return std::move(*path);
  call->refuse(path.error().text);
  return std::nullopt;
}

} // namespace troupe::toolkit

#pragma once

#include "net/providers/api_call.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What Daytona is asked beside runs, a line each.
namespace troupe::net::daytona {

enum class plane { api, toolbox };

struct call : operation {
  plane to = plane::toolbox;
  std::string_view accept{}; // "": JSON
};

// -- the sandbox itself (control API) -----------------------------------------

call show_sandbox(std::string_view sandbox);
/// All of them: what is not named is gone.
call set_labels(std::string_view sandbox,
                const std::map<std::string, std::string>& labels);
/// Idle for so long, it stops; 0: never.
call set_autostop(std::string_view sandbox, std::chrono::minutes idle);
/// Stopped for so long, it is deleted; 0: at once.
call set_autodelete(std::string_view sandbox, std::chrono::minutes stopped);
call stop_sandbox(std::string_view sandbox);
call start_sandbox(std::string_view sandbox);
call preview(std::string_view sandbox, std::uint16_t port);
/// For whoever has no key, for that long.
call signed_preview(std::string_view sandbox, std::uint16_t port,
                    std::chrono::seconds valid);

// -- files --------------------------------------------------------------------

call upload(const std::vector<sandbox_file>& files);
call download(std::string_view path);
call download_all(const std::vector<std::string>& paths);
call list_folder(std::string_view path);
call file_info(std::string_view path);
/// `mode` as "755".
call make_folder(std::string_view path, std::string_view mode);
call move(std::string_view from, std::string_view to);
call remove(std::string_view path, bool with_all_in_it);
call search_names(std::string_view path, std::string_view glob);
call find_text(std::string_view path, std::string_view text);
call replace_text(const std::vector<std::string>& files, std::string_view text,
                  std::string_view by);
/// Of what is "" nothing changes.
call set_permissions(std::string_view path, std::string_view mode,
                     std::string_view owner = {}, std::string_view group = {});

// -- commands and code --------------------------------------------------------

/// Both streams come back mixed: for short commands of ours only.
call execute(std::string_view command, std::string_view folder,
             const std::map<std::string, std::string>& env,
             std::chrono::seconds limit);
/// `language` is "python", "javascript" or "typescript".
call run_code(std::string_view code, std::string_view language,
              const std::vector<std::string>& argv,
              const std::map<std::string, std::string>& env,
              std::chrono::seconds limit);

// -- git ----------------------------------------------------------------------

struct git_login {
  std::string user;
  secret password;
};
call git_clone(std::string_view url, std::string_view path,
               std::string_view branch = {},
               const std::optional<git_login>& login = {});
call git_status(std::string_view path);
call git_add(std::string_view path, const std::vector<std::string>& files);
call git_commit(std::string_view path, std::string_view message,
                std::string_view author, std::string_view email);
call git_push(std::string_view path,
              const std::optional<git_login>& login = {});
call git_pull(std::string_view path,
              const std::optional<git_login>& login = {});
call git_branches(std::string_view path);
call git_create_branch(std::string_view path, std::string_view name);
call git_delete_branch(std::string_view path, std::string_view name);
call git_checkout(std::string_view path, std::string_view branch);

} // namespace troupe::net::daytona

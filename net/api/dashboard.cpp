#include "net/api/routes.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/embedded_file.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

namespace troupe::net {

// The files of web/, put into the binary when building; see net/CMakeLists.txt.
std::span<const embedded_file> embedded_dashboard();

namespace {

// Scripts, styles and frames are our own files, markup is never made from text,
// and a page around ours is refused: what hostile tools wrote is only shown.
constexpr std::string_view page_policy
  = "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; "
    "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

// Where the HTML of a cell is shown: an origin of its own, without cookies,
// storage, network or a way to open windows.
constexpr std::string_view frame_policy
  = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

constexpr std::string_view assets = "assets/";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".js"))
    return "text/javascript; charset=utf-8";
  if (name.ends_with(".css"))
    return "text/css; charset=utf-8";
  if (name.ends_with(".svg"))
    return "image/svg+xml";
  return "text/html; charset=utf-8";
}

/// What the binary carries, and the names under which browsers keep it.
class dashboard {
public:
  dashboard() {
    sha256_hasher all;
    for (const auto& file : embedded_dashboard()) {
      all.add(file.path);
      all.add(file.text);
    }
    version_ = hex(all.end()).substr(0, 16);
    etag_ = "W/\"" + version_ + "\"";
    page_ = find("index.html")->text;
    const std::string_view mark = "@version@";
    for (auto at = page_.find(mark); at != std::string::npos;
         at = page_.find(mark, at))
      page_.replace(at, mark.size(), version_);
  }

  void show(const exchange_ptr& ex, std::string_view path) const {
    if (path.starts_with(assets))
      show_asset(ex, path.substr(assets.size()));
    else if (path == "frame")
      answer(ex, "frame.html", find("frame.html")->text, frame_policy,
             "no-cache");
    else // a page; the script says so when it does not know the path
      answer(ex, "index.html", page_, page_policy, "no-cache");
  }

private:
  /// The version is part of the name: a browser asks once for each, and a page
  /// never gets one half of its script from another build.
  void show_asset(const exchange_ptr& ex, std::string_view path) const {
    auto slash = path.find('/');
    const auto* file
      = slash == std::string_view::npos || path.substr(0, slash) != version_
      ? nullptr
      : find(path.substr(slash + 1));
    if (!file) {
      ex->refuse(404, "not_found",
                 "the dashboard of this engine has no such file; reload the "
                 "page");
      return;
    }
    answer(ex, file->path, file->text, page_policy,
           "public, max-age=31536000, immutable");
  }

  void answer(const exchange_ptr& ex, std::string_view name,
              std::string_view text, std::string_view policy,
              std::string_view cache) const {
    response r;
    r.type = type_of(name);
    r.fields.emplace_back("content-security-policy", policy);
    r.fields.emplace_back("cache-control", cache);
    r.fields.emplace_back("etag", etag_);
    r.fields.emplace_back("cross-origin-opener-policy", "same-origin");
    r.fields.emplace_back("cross-origin-resource-policy", "same-origin");
    r.fields.emplace_back("permissions-policy",
                          "camera=(), microphone=(), geolocation=()");
    if (ex->in().field("if-none-match").find(etag_) != std::string_view::npos)
      r.status = 304;
    else
      r.body = text;
    ex->answer(std::move(r));
  }

  static const embedded_file* find(std::string_view path) {
    auto files = embedded_dashboard();
    auto found = std::ranges::find(files, path, &embedded_file::path);
    return found == files.end() ? nullptr : &*found;
  }

  std::string version_;
  std::string etag_;
  std::string page_;
};

} // namespace

void add_dashboard(router& routes) {
  route_rules rules;
  rules.public_route = true;
  rules.body = body_rule::none;
  auto board = std::make_shared<const dashboard>();
  routes.add(
    method::get, "/ui", [board](exchange_ptr ex) { board->show(ex, ""); },
    rules);
  routes.add(
    method::get, "/ui/{path...}",
    [board](exchange_ptr ex) { board->show(ex, ex->param(0)); }, rules);
}

} // namespace troupe::net

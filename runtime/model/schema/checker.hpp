#pragma once

#include "runtime/model/schema/bind_arguments.hpp"
#include "runtime/model/schema/pattern.hpp"
#include "runtime/model/schema/types.hpp"

#include <map>
#include <optional>
#include <vector>

namespace troupe::schema {

/// Walks a value along its schema, correcting it on the way. Private to
/// bind_arguments.cpp.
///
/// Schemas are as foreign as values: every step is paid for out of a budget,
/// so that references in circles and alternatives of alternatives end.
class checker {
public:
  checker(const json::object& tool, const json::object& root,
          const bind_options& options)
      : tool_{tool}, root_{root}, options_{options} {}

  /// What several schemas about one value share.
  struct context {
    /// Refuse unknown members even where the schema is silent about them:
    /// arguments are like that, objects inside of them are not.
    bool strict_names = false;
    /// A schema further out permits a text here: none further in rewrites it.
    bool keep_text = false;
  };

  void check(json::value& v, const json::value& schema,
             const std::string& pointer, context c);
  void check(json::value& v, const json::object& schema,
             const std::string& pointer, context c);

  /// Corrects what fits and lets most of the rest pass.
  void bend(json::object& args, const json::object& schema,
            const std::string& pointer);

  bool failed() const noexcept { return !complaints.empty(); }
  std::vector<field_error> complaints;

private:
  using object = json::object;
  using value = json::value;

  // -- the budget and the complaints -----------------------------------------
  bool pay(std::size_t steps);
  void complain(std::string pointer, std::string reason, std::string hint = {});
  bool enough() const {
    return exhausted_ || complaints.size() >= options_.complaints;
  }

  // -- what a schema permits -------------------------------------------------
  types permitted(const value& schema, int depth = 0);
  types permitted(const object& schema, int depth = 0);
  types any_of(const json::array& schemas, int depth);
  types stated(const object& schema);
  const object* referred(const object& schema) const;
  const object* resolve(std::string_view path) const;

  // -- keywords --------------------------------------------------------------
  bool check_type(const value& v, const object& schema,
                  const std::string& pointer);
  void check_choices(const value& v, const object& schema,
                     const std::string& pointer);
  void check_number(const value& v, const object& schema,
                    const std::string& pointer);
  void check_string(const value& v, const object& schema,
                    const std::string& pointer);
  void check_pattern(std::string_view text, const object& schema,
                     const std::string& pointer);
  /// Nothing for a pattern that cannot be told. Good until the next call.
  const pattern* compiled(std::string_view spelled);
  bool pay_to_find(const pattern& p, std::string_view text);
  void check_array(value& v, const object& schema, const std::string& pointer);
  void bend(value& v, const value& rule, const std::string& pointer);
  void check_unique(const json::array& list, const std::string& pointer);
  void check_object(value& v, const object& schema, const std::string& pointer,
                    bool strict_names);
  void drop_nulls(object& o, const object& schema);
  void check_names(object& o, const object& schema, const std::string& pointer,
                   bool strict_names);
  bool check_patterned(value& member, std::string_view name,
                       const value* patterned, const std::string& pointer);
  void check_combinations(value& v, const object& schema,
                          const std::string& pointer, context c);
  void check_any(value& v, const json::array& schemas,
                 const std::string& pointer, context c, bool exactly_one);
  void check_conditions(value& v, const object& schema,
                        const std::string& pointer, context c);
  /// The corrected value, when it passes.
  std::optional<value> passing(const value& v, const value& schema,
                               const std::string& pointer, context c);

  const object& tool_;
  const object& root_;
  const bind_options& options_;
  std::size_t budget_ = 1'000'000; // steps: a second, of hostile patterns three
  std::map<std::string_view, std::optional<pattern>> patterns_; // a few
  int depth_ = 0;
  bool exhausted_ = false;
};

} // namespace troupe::schema

#include "runtime/toolkit/toolkit.hpp"

#include "runtime/toolkit/text_budget.hpp"

namespace troupe::toolkit {

namespace {

/// One line per mistake, for a model that tries again.
std::string mistakes_of(const tool_entry& tool, const error& why) {
  std::string text
    = "The arguments of " + std::string{tool.name} + " are not right:\n";
  for (const auto& each : why.fields) {
    text += (each.pointer.empty() ? "arguments" : each.pointer) + ": "
      + each.reason;
    if (!each.hint.empty())
      text += " (" + each.hint + ")";
    text += "\n";
  }
  if (why.fields.empty())
    text += why.text + "\n";
  return plain_text(text) + "Correct them and call it again.";
}

} // namespace

call_ptr toolkit::call(caller who, const listed_tool& tool,
                       json::object arguments, binding where, call_hooks hooks,
                       toolkit_call::done then) {
  if (!engine_) {
    then(refusal("This engine has no sandboxes."));
    return nullptr;
  }
  auto fitting = read_arguments(tool, std::move(arguments));
  if (!fitting) {
    then(refusal(mistakes_of(tool.entry, fitting.error())));
    return nullptr;
  }
  auto made = std::make_shared<toolkit_call>(
    *engine_, sessions_, std::move(who), tool, std::move(*fitting),
    std::move(where), rules_, std::move(hooks), std::move(then));
  made->begin();
  return made;
}

} // namespace troupe::toolkit

// Changes of tools: names are unique in an organization.
#include "runtime/model/codec/codec.hpp"
#include "storage/catalog/catalog_change.hpp"

namespace troupe {

namespace {

// What a client says, without what the store adds.
json::object content_of(const tool& t) {
  auto o = to_json(t);
  for (auto name : {"id", "organization_id", "revision", "created_at",
                    "updated_at", "created_by", "updated_by"})
    o.erase(name);
  return o;
}

result<void> check(const tool& t, const catalog_limits& limits) {
  if (t.name.empty())
    return bad_field("/name", "a tool has a name");
  if (t.name.size() > limits.name_bytes)
    return bad_field("/name",
                     "is longer than " + std::to_string(limits.name_bytes)
                       + " bytes");
  if (tool_traits::encode(t).size() > limits.tool_bytes)
    return bad_field("",
                     "the tool is larger than "
                       + std::to_string(limits.tool_bytes) + " bytes");
  return {};
}

error tool_taken(const std::string& name) {
  return {ec::conflict,
          "a tool named '" + name + "' exists already; choose another name",
          {},
          {}};
}

} // namespace

result<change_reply> catalog_edit::operator()(const put_tool& c) {
  auto place = current().tools_by_name.find(c.value.name);
  bool fresh = place == current().tools_by_name.end();
  if (!fresh && c.must_be_new)
    return tool_taken(c.value.name);
  auto revision = fresh ? 0 : current().tools.at(place->second)->revision;
  if (auto same = check_revision(revision, c.if_revision); !same)
    return same.error();
  if (fresh)
    return insert_tool(c.value);
  const auto& old = *current().tools.at(place->second);
  auto t = c.value;
  if (t.tags.empty()) // as Letta: no tags are no wish to remove them
    t.tags = old.tags;
  return replace_tool(old, std::move(t));
}

result<change_reply> catalog_edit::insert_tool(tool t) {
  if (current().tools.size() >= options_.limits.tools)
    return too_many("tools", options_.limits.tools);
  if (t.id.empty())
    t.id = tool_id::make();
  if (current().tools.contains(t.id))
    return error{
      ec::conflict, "a tool with id '" + t.id.str() + "' exists", {}, {}};
  t.revision = 1;
  t.created_at = t.updated_at = now_;
  t.created_by = t.updated_by = who_.user.str();
  return write_tool(std::move(t), true);
}

result<change_reply> catalog_edit::operator()(const update_tool& c) {
  auto place = current().tools.find(c.value.id);
  if (place == current().tools.end())
    return not_found_error("tool", c.value.id.str());
  const auto& old = *place->second;
  if (auto same = check_revision(old.revision, c.if_revision); !same)
    return same.error();
  if (c.value.name != old.name
      && current().tools_by_name.contains(c.value.name))
    return tool_taken(c.value.name);
  return replace_tool(old, c.value);
}

result<change_reply> catalog_edit::replace_tool(const tool& old, tool t) {
  if (content_of(old) == content_of(t))
    return reply_for(current().tools.at(old.id));
  t.id = old.id;
  t.revision = old.revision + 1;
  t.created_at = old.created_at;
  t.created_by = old.created_by;
  t.updated_at = now_;
  t.updated_by = who_.user.str();
  auto old_name = old.name; // `old` may be ours to drop
  auto kept = write_tool(std::move(t), false);
  if (kept && kept->tool->name != old_name)
    writable().tools_by_name.erase(old_name);
  return kept;
}

result<change_reply> catalog_edit::write_tool(tool t, bool created) {
  t.organization = who_.organization;
  if (auto good = check(t, options_.limits); !good)
    return good.error();
  tables_.tools.put(batch_, t);
  auto kept = std::make_shared<const tool>(std::move(t));
  writable().tools[kept->id] = kept;
  writable().tools_by_name[kept->name] = kept->id;
  return reply_for(kept, created);
}

result<change_reply> catalog_edit::operator()(const delete_tool& c) {
  auto place = current().tools.find(c.id);
  if (place == current().tools.end())
    return not_found_error("tool", c.id.str());
  auto old = place->second;
  if (auto same = check_revision(old->revision, c.if_revision); !same)
    return same.error();
  tables_.tools.erase(batch_, *old);
  writable().tools_by_name.erase(old->name);
  writable().tools.erase(old->id);
  return reply_for(old);
}

} // namespace troupe

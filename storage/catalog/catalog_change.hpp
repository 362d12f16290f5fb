#pragma once

#include "storage/catalog/catalog_store.hpp"

namespace troupe {

/// One change on its way: what it writes, and the catalog that it leads to.
/// Copies of the old catalog only what it touches. Nothing has happened until
/// the batch is written and the catalog published.
class catalog_edit {
public:
  catalog_edit(const catalog& base, const catalog_tables& tables, sealer& seals,
               const catalog_options& options, author who, timestamp now);

  result<change_reply> operator()(const put_tool& c);
  result<change_reply> operator()(const update_tool& c);
  result<change_reply> operator()(const delete_tool& c);
  result<change_reply> operator()(const put_config& c);
  result<change_reply> operator()(const default_config& c);
  result<change_reply> operator()(const update_config& c);
  result<change_reply> operator()(const delete_config& c);
  result<change_reply> operator()(const put_variable& c);
  result<change_reply> operator()(const update_variable& c);
  result<change_reply> operator()(const delete_variable& c);
  result<change_reply> operator()(const put_agent_variables& c);
  result<change_reply> operator()(const delete_agent_variable& c);
  result<change_reply> operator()(const put_key& c);
  result<change_reply> operator()(const delete_key& c);
  result<change_reply> operator()(const delete_organization& c);

  /// Seals a value again with the newest key.
  result<void> reseal(const sealed_variable& v);
  result<void> reseal(const sealed_agent_variable& v);
  void erase_everything();

  const batch& changes() const { return batch_; }
  bool is_empty() const { return batch_.empty(); }
  /// Adds the new version number to the batch and hands out the catalog.
  std::shared_ptr<catalog> finish();

private:
  using variable_ptr = std::shared_ptr<const sealed_variable>;
  using agent_variable_ptr = std::shared_ptr<const sealed_agent_variable>;

  const organization_catalog& current() const; // as it is, maybe empty
  organization_catalog& writable();            // a copy to change

  result<change_reply> insert_tool(tool t);
  result<change_reply> replace_tool(const tool& old, tool t);
  result<change_reply> write_tool(tool t, bool created);
  result<change_reply> write_config(sandbox_config c, bool created);
  result<change_reply> replace_config(const sandbox_config& old,
                                      const json::object& config);
  void erase_variables(const config_id& config);
  result<variable_ptr> write_variable(sealed_variable v, const secret& value,
                                      const sealed_variable* old);
  void store(const variable_ptr& v, const sealed_variable* old);
  result<agent_variable_ptr> write_agent_variable(const std::string& agent,
                                                  const std::string& key,
                                                  const secret& value);
  void store(const agent_variable_ptr& v);
  void erase_agent_variable(const sealed_agent_variable& v);
  bool equals(const sealed_variable& v, const secret& value) const;
  bool equals(const sealed_agent_variable& v, const secret& value) const;

  const catalog& base_;
  const catalog_tables& tables_;
  sealer& seals_;
  const catalog_options& options_;
  author who_;
  timestamp now_;

  batch batch_;
  std::shared_ptr<catalog> next_;
  std::shared_ptr<organization_catalog> writable_;
};

/// A reply about one thing.
change_reply reply_for(std::shared_ptr<const tool> t, bool created = false);
change_reply reply_for(std::shared_ptr<const sandbox_config> c,
                       bool created = false);
change_reply reply_for(std::shared_ptr<const sealed_variable> v,
                       bool created = false);
change_reply reply_for(std::shared_ptr<const api_key> k, bool created = false);

/// Errors that several changes share.
error not_found_error(std::string_view what, std::string_view id);
error too_many(std::string_view what, std::size_t limit);
/// `is` 0: there is nothing yet.
result<void> check_revision(std::uint64_t is,
                            const std::optional<std::uint64_t>& expected);

std::string catalog_version_key();

} // namespace troupe

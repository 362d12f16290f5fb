#pragma once

#include "include/troupe/engine.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/engine.hpp"

namespace troupe {

// The public interface's values and ours, both ways.
result<run_request> request_from(const api::message& m);
api::message message_from(const run_request& r);
api::answer answer_from(const run_result& r);
run_result result_from(const api::answer& a, const run_id& id);
api::failure failure_from(const error& e);
api::reply reply_from(const result<std::shared_ptr<const run_result>>& r);
api::event event_from(const run_event& e);
std::variant<api::record, api::failure> record_from(result<run_record> r);
caller caller_for(std::string_view organization);

} // namespace troupe

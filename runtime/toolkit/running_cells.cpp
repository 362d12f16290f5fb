#include "runtime/toolkit/running_cells.hpp"

#include "runtime/toolkit/text_budget.hpp"

namespace troupe::toolkit {

namespace {

constexpr std::size_t whole_window = 64u << 20;
constexpr std::size_t most_pictures = 4;
constexpr std::size_t largest_picture = 4u << 20; // of its base64, for 3 MiB

std::string cell_time(const cell_record& r) {
  const auto began = r.began_at.value_or(r.queued_at);
  const auto took = r.ended_at.value_or(began) - began;
  return seconds_text(static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

/// One value: a picture where it has one, else its text.
void add_value(outcome& to, const cell_event& e) {
  std::string_view plain;
  for (const auto& [mime, content] : e.data) {
    if (mime == "text/plain")
      plain = content;
    if ((mime != "image/png" && mime != "image/jpeg")
        || content.size() > largest_picture)
      continue;
    if (to.pictures.size() == most_pictures) {
      to.text += "[a further picture is left out]\n";
    } else {
      std::string base64;
      for (char c : content) // Jupyter breaks it into lines
        if (c != '\n' && c != '\r')
          base64 += c;
      to.pictures.push_back({mime, std::move(base64)});
    }
    return;
  }
  if (plain.empty())
    return;
  to.text += (e.what == cell_event::kind::result ? "→ " : "")
    + plain_text(plain) + "\n";
}

std::string cell_ending(const cell_record& r, const std::string& error,
                        const std::string& context) {
  const auto time = cell_time(r);
  const auto lost = r.state_lost
    ? " · the variables of context " + context + " are lost"
    : std::string{};
  switch (r.status) {
  case cell_status::ok:
    return "[ok · " + time + "]";
  case cell_status::error:
    return "[" + (error.empty() ? "error" : error) + " · " + time + "]";
  case cell_status::timeout:
    return "[killed: wall_timeout after " + time + lost + "]";
  case cell_status::interrupted:
    return "[interrupted · " + time + lost + "]";
  case cell_status::lost:
    return "[lost: the interpreter ended"
      + (r.detail.empty() ? std::string{} : " · " + plain_text(r.detail)) + lost
      + "]";
  default:
    return "[still running]";
  }
}

} // namespace

outcome cell_outcome(const sandbox_cell& cell, output_offsets from,
                     std::size_t most, const std::string& context) {
  const auto record = cell.record(); // first: what it told is there then
  outcome to;
  const auto out = cell.read(output_stream::out, from.out, whole_window);
  const auto err = cell.read(output_stream::err, from.err, whole_window);
  if (out.missed + err.missed > 0)
    to.text = "[the first " + with_commas(out.missed + err.missed)
      + " bytes of output are gone]\n";
  to.text += plain_text(out.bytes);
  if (!to.text.empty() && to.text.back() != '\n')
    to.text += '\n';
  if (!err.bytes.empty()) {
    to.text += "[stderr]\n" + plain_text(err.bytes);
    if (to.text.back() != '\n')
      to.text += '\n';
  }
  std::string error;
  if (record.ended())
    for (std::size_t i = 0; auto told = cell.event(i); ++i) {
      if (told->event->what != cell_event::kind::error) {
        add_value(to, *told->event);
        continue;
      }
      error = plain_text(told->event->name);
      to.text += plain_text(told->event->traceback);
      if (!to.text.empty() && to.text.back() != '\n')
        to.text += '\n';
    }
  to.text = cut_middle(to.text, most, "print less, or write it to a file");
  to.text += cell_ending(record, error, context);
  to.failed = record.status == cell_status::timeout
    || record.status == cell_status::lost;
  return to;
}

bool read_cell(const call_ptr& call, const std::string& id) {
  const auto kept = call->memory().kept(id);
  if (!kept)
    return false;
  const auto from
    = call->text("from") == "start" ? output_offsets{} : kept->shown;
  auto read = [weak = std::weak_ptr{call}, id, kept = *kept, from] {
    const auto call = weak.lock();
    if (!call || call->over())
      return;
    const auto record = kept.cell->record();
    call->memory().kept(id, {record.stdout_bytes, record.stderr_bytes});
    call->answer(
      cell_outcome(*kept.cell, from, call->most_characters(), kept.context));
  };
  if (kept->cell->record().ended()) {
    read();
    return true;
  }
  call->after(call->wait(10'000), read);
  kept->cell->when_ended(read);
  return true;
}

bool interrupt_cell(const call_ptr& call, const std::string& id) {
  const auto kept = call->memory().kept(id);
  auto* contexts = call->engine().contexts();
  if (!kept || !contexts)
    return false;
  contexts->find(
    call->who(), call->sandbox(), kept->cell->record().context,
    call->or_fail<sandbox_context_ptr>(
      [call, kept = *kept](const sandbox_context_ptr& found) {
        kept.cell->when_ended([call, kept] {
          call->answer(cell_outcome(*kept.cell, kept.shown,
                                    call->most_characters(), kept.context));
        });
        found->interrupt([call](sandbox_result<bool> stopped) {
          if (stopped && !*stopped)
            call->refuse("It has not stopped within two seconds. reset=true "
                         "starts the interpreter anew.");
        });
      }));
  return true;
}

} // namespace troupe::toolkit

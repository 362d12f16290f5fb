#pragma once

#include "actors/sandbox/gateway/sandbox_calls.hpp"
#include "actors/sandbox/place_call.hpp"

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

namespace troupe {

/// What a place was asked for, and why it would not do it.
template <class Call>
struct checked_call {
  std::optional<sandbox_error> (*refuse)(const sandbox_place& at);
  Call call;
};

std::optional<sandbox_error> has_files(const sandbox_place& at);
std::optional<sandbox_error> has_ports(const sandbox_place& at);

/// A place's error with what is known about it more closely.
sandbox_error closer(error why);

/// Calls of front doors that the sandbox lets in, and its place carries out.
class place_calls : protected sandbox_calls {
protected:
  using sandbox_calls::sandbox_calls;
  using ms = std::chrono::milliseconds;

  ms patience() const { return services_->options.rules.call_timeout; }

  /// `work` gets the provider, the sandbox's name there, and the scope.
  template <class T, class Work>
  void at_place(const caller& who, const sandbox_id& id, Work work,
                sandbox_handler<T> then, ms longest) {
    auto entered = [work = std::move(work), then = std::move(then),
                    longest](sandbox_result<sandbox_access> visit) {
      if (!visit)
        return then(visit.error());
      const auto& place = *visit->place;
      if (auto why = work.refuse(place))
        return then(std::move(*why));
      call_scope scope{std::chrono::steady_clock::now() + longest, nullptr};
      auto call = [provider = place.provider, work, box = visit->box,
                   scope = std::move(scope)] {
        return work.call(*provider, *box, scope);
      };
      call_place<result<T>>(place.executor, std::move(call),
                            [then](std::optional<result<T>> came) {
                              if (!came)
                                return then(sandbox_error{place_threw()});
                              if (!*came)
                                return then(closer(came->error()));
                              if constexpr (std::is_void_v<T>)
                                then({});
                              else
                                then(std::move(**came));
                            });
    };
    tell<sandbox_access>(who, id, std::move(entered), access_v);
  }

  /// The same about files, of which `work` gets those of the place.
  template <class T, class Work>
  void with_files(const caller& who, const sandbox_id& id, Work work,
                  sandbox_handler<T> then, ms longest) {
    auto call
      = [work = std::move(work)](sandbox_provider& at,
                                 const sandbox_handle& box, call_scope scope) {
          return work(*at.files(), box, std::move(scope));
        };
    at_place<T>(who, id, checked_call{has_files, std::move(call)},
                std::move(then), longest);
  }
  template <class T, class Work>
  void with_files(const caller& who, const sandbox_id& id, Work work,
                  sandbox_handler<T> then) {
    with_files<T>(who, id, std::move(work), std::move(then), patience());
  }
};

} // namespace troupe

#pragma once

#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

#include <cstddef>

namespace troupe::isolation {

/// Where a sandbox's user is at home, which is its working directory.
inline constexpr const char* living_home = "/home/user";

/// So many sandboxes, one made from the other.
inline constexpr std::size_t max_layers = 24;

/// The tree of a sandbox that lives. The first of `tree.shown` is its root, the
/// others lie where they say; each is the lower layer of an overlay, so that no
/// file of it shares an inode with one that somebody else sees. All that is
/// written goes to one tmpfs, with the bounds of the tree's scratch for all of
/// it together. Links and text files are the root layer's own business.
///
/// Afterwards nothing else can be reached, and no namespace can be made below
/// this one. Needs what `build_tree` needs.
///
/// `kept` is what it writes, as a file system that another sandbox can be made
/// from (`tree.layers`), or -1 where the kernel has no such thing.
outcome build_living_tree(const tree_plan& tree, opened_sources& from,
                          int& kept) noexcept;

/// Only what one layer has written, in a store of its own: `kept`.
outcome copy_written_tree(const tree_plan& tree, int& kept) noexcept;

} // namespace troupe::isolation

#pragma once

namespace troupe::zygote {

/// In the zygote, when nothing of it runs any more: what it has written to,
/// mapping by mapping, comes to lie in the memory of huge pages. Addresses and
/// content stay what they are. Returns how many mappings moved.
int gather_pages();

} // namespace troupe::zygote

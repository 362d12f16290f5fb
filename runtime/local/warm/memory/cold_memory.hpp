#pragma once

namespace troupe::zygote {

/// In the zygote, before the first fork: of each large piece of its memory, all
/// but the beginning is put where fork need not look at it. Returns how many
/// huge pages that is.
int put_away_cold_memory();

} // namespace troupe::zygote

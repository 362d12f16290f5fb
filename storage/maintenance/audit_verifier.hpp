#pragma once

#include "storage/maintenance/store.hpp"

#include <utility>
#include <vector>

namespace troupe {

/// Every chain of the audit record, walked.
struct audit_findings {
  /// By organization; an error names the first entry that does not fit.
  std::vector<std::pair<organization_id, result<audit_store::summary>>> chains;
  bool beside_engine = false; // some process wrote here meanwhile

  bool whole() const;
};

/// Walks the chains, all or those of `only`, and changes nothing. Beside a
/// running engine it sees what was written before it looked.
result<audit_findings> examine_audit(const store_options& options,
                                     const organization_id& only = {});

} // namespace troupe

/* One call of a part of a batch, by as many workers as are worth it.
 *
 * The rows of a row-wise call are cut in equal stretches of whole register tiles. Of a call that looks along time,
 * workers claim sequences, or tiles of queries of a sequence: their work differs, so whoever is done claims more. A
 * call begins when the one before has ended everywhere.
 *
 * How much work is worth a worker, and how much is worth waking any, are numbers of the plan: `worker_work` and
 * `entry_work`. Results do not depend on them.
 *
 * Rejected: handing whole parts of a batch to workers. They would join less often, and every worker would need a
 * scratch of its own; and one long sequence, which is what latency is about, has a single part.
 */
#ifndef BURIN_SPLIT_H
#define BURIN_SPLIT_H

#include "calls.h"
#include "team.h"

/* Whether a part with so many units has as much work to split as waking the others costs. */
BURIN_PRIVATE int burin_is_worth_splitting(const burin_plan *plan, const burin_plan_entry *entry, const int64_t *units);
/* Alone where `team` is null. */
BURIN_PRIVATE burin_status burin_run_split(burin_part *part, burin_team *team, const burin_plan_call *call);

#endif

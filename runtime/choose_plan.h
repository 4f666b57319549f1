/* Which of an object's plans runs on this processor. An object for several targets links their plans by `fallback`, the
 * best first; the choice falls when a model is opened, and the model remembers it.
 *
 * Rejected: entry points that ask the processor themselves (a question in every call), and indirect functions of the
 * linker (not in a static program without an operating system, and no way to force a choice).
 */
#ifndef BURIN_CHOOSE_PLAN_H
#define BURIN_CHOOSE_PLAN_H

#include "message.h"

/* The target that must be used and no other: what the options say, else what the environment says; null: the best. */
BURIN_PRIVATE const char *burin_forced_isa(const burin_open_options *options);

/* The first plan from `first` on that this processor runs, or the one that is forced. The message of a failure says
 * what the object holds and what the processor runs. */
BURIN_PRIVATE burin_status burin_choose_plan(const burin_plan *first, const burin_open_options *options,
                                             const burin_plan **chosen, burin_message *message);

/* A packed file is for one target: that one's plan, where it is among those that may be chosen, else the chosen one. */
BURIN_PRIVATE const burin_plan *burin_plan_of_file(const burin_plan *chosen, const burin_open_options *options,
                                                   const char *target, size_t target_capacity);

#endif

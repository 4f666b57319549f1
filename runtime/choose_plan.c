#include "choose_plan.h"

#include "environment.h"
#include "processor.h"

#include <string.h>

static int runs_here(const burin_plan *plan) { return burin_processor_has(plan->cpu_bits, plan->cpu_bit_count); }

const char *burin_forced_isa(const burin_open_options *options) {
  return options->isa ? options->isa : burin_environment_isa();
}

/* 'a', 'b' and 'c': the targets of the list, or those of them that run here; gives their number. */
static int tell_targets(const burin_plan *first, int only_what_runs, burin_message *message) {
  int all = 0, told = 0;
  for (const burin_plan *plan = first; plan; plan = plan->fallback)
    all += !only_what_runs || runs_here(plan);
  for (const burin_plan *plan = first; plan; plan = plan->fallback) {
    if (only_what_runs && !runs_here(plan))
      continue;
    burin_message_text(message, told == 0 ? "" : told + 1 == all ? " and " : ", ");
    burin_message_name(message, plan->target, strlen(plan->target));
    ++told;
  }
  return told;
}

static burin_status fail_unsupported(const burin_plan *first, burin_message *message) {
  burin_message_text(message, "this processor, or its operating system, lacks what ");
  burin_message_text(message, first->fallback ? "each of the targets " : "target ");
  tell_targets(first, 0, message);
  burin_message_text(message, " needs");
  return BURIN_CPU_UNSUPPORTED;
}

/* Says who asked for the target, and which. */
static void tell_forced(const burin_open_options *options, const char *isa, burin_message *message) {
  burin_message_text(message, options->isa ? "the open option isa asks for " : "the variable BURIN_ISA asks for ");
  burin_message_name(message, isa, strlen(isa));
}

static burin_status fail_forced(const burin_plan *first, const burin_plan *found, const burin_open_options *options,
                                const char *isa, burin_message *message) {
  tell_forced(options, isa, message);
  if (found) {
    burin_message_text(message, ", for which this processor, or its operating system, lacks something");
  } else {
    burin_message_text(message, ", but the object holds ");
    tell_targets(first, 0, message);
  }
  burin_message_text(message, "; of what the object holds, this processor runs ");
  if (tell_targets(first, 1, message) == 0)
    burin_message_text(message, "nothing");
  return found ? BURIN_CPU_UNSUPPORTED : BURIN_NO_SUCH_ISA;
}

burin_status burin_choose_plan(const burin_plan *first, const burin_open_options *options, const burin_plan **chosen,
                               burin_message *message) {
  const char *isa = burin_forced_isa(options);
  const burin_plan *plan = first;
  while (plan && (isa ? strcmp(plan->target, isa) != 0 : !runs_here(plan)))
    plan = plan->fallback;
  if (isa && (!plan || !runs_here(plan)))
    return fail_forced(first, plan, options, isa, message);
  if (!plan)
    return fail_unsupported(first, message);
  *chosen = plan;
  return BURIN_OK;
}

/* Whether a name is what a field of the file holds, which ends with zeros. */
static int is_named(const char *name, const char *field, size_t capacity) {
  size_t bytes = strlen(name) + 1;
  return bytes <= capacity && memcmp(name, field, bytes) == 0;
}

const burin_plan *burin_plan_of_file(const burin_plan *chosen, const burin_open_options *options, const char *target,
                                     size_t target_capacity) {
  if (burin_forced_isa(options))
    return chosen;
  for (const burin_plan *plan = chosen; plan; plan = plan->fallback) /* those before it do not run here */
    if (is_named(plan->target, target, target_capacity) && runs_here(plan))
      return plan;
  return chosen;
}

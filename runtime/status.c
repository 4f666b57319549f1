/* Statuses as sentences. */
#include "burin.h"

const char *burin_status_text(burin_status status) {
  switch (status) {
  case BURIN_OK:
    return "no error";
  case BURIN_NULL_POINTER:
    return "a required pointer is null";
  case BURIN_MISALIGNED:
    return "state or scratch is not 64-byte aligned, or an input or output is not 4-byte aligned";
  case BURIN_OVERLAP:
    return "two buffers of the call overlap";
  case BURIN_TIME_OUT_OF_RANGE:
    return "a length or position is negative or past the graph's maximum, or a batch has more rows than a kernel can "
           "index";
  case BURIN_BAD_OFFSETS:
    return "batch offsets do not start at 0, or descend";
  case BURIN_STATE_FULL:
    return "the state has no room for so many more rows";
  case BURIN_STATE_FOREIGN:
    return "the state, or a saved one, belongs to another model or was never reset";
  case BURIN_SCRATCH_TOO_SMALL:
    return "scratch or state memory is smaller than the model's size functions ask for";
  case BURIN_NO_SUCH_STATE_VALUE:
    return "the state has no value of that name, or what is asked for needs more room than was given";
  case BURIN_NO_STEP:
    return "the graph looks ahead in time and has no step";
  case BURIN_CPU_UNSUPPORTED:
    return "this processor, or its operating system, lacks what the object was compiled for";
  case BURIN_FILE_UNREADABLE:
    return "the weights file cannot be opened or mapped";
  case BURIN_FILE_MALFORMED:
    return "the weights file breaks its own format";
  case BURIN_WEIGHTS_MISMATCH:
    return "the weights do not fit the graph: a tensor is missing, unknown, or of another shape or type";
  case BURIN_OUT_OF_MEMORY:
    return "memory for the weights could not be allocated, or was given and is too small";
  case BURIN_KERNEL_FAILED:
    return "a kernel failed, or object and runtime do not match";
  case BURIN_MEMORY_NOT_LOCKED:
    return "the weights could not be locked in memory";
  case BURIN_BAD_ID:
    return "a token id is negative or not in the table";
  case BURIN_NO_SUCH_ISA:
    return "the object holds no code for the instruction set that was asked for";
  case BURIN_STATE_DAMAGED:
    return "the saved state is cut off, or not what was saved";
  case BURIN_NO_WORKERS:
    return "the threads or workers that were asked for cannot be had";
  }
  return "unknown status";
}

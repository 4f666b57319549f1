/* Floats of a weights file as float32: the file's may be float32, float16 or bfloat16, at any address. */
#ifndef BURIN_FILE_FLOATS_H
#define BURIN_FILE_FLOATS_H

#include "private.h"

/* How floats lie in the file; -1 for types that are no floats, and for those that do not fit into float32. */
enum { BURIN_FILE_F32 = 0, BURIN_FILE_F16 = 1, BURIN_FILE_BF16 = 2 };
BURIN_PRIVATE int burin_file_float_type(const char *type);
BURIN_PRIVATE int64_t burin_file_float_bytes(int type);

/* `count` floats, exactly: a NaN keeps its sign and the bits it has. */
BURIN_PRIVATE void burin_copy_floats(unsigned char *to, const unsigned char *from, int64_t count, int type);

#endif

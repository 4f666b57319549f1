/* The program with an operating system and a C library. */
#include "program.h"

#include <stdio.h>

void write_bytes(const char *text, size_t bytes) { fwrite(text, 1, bytes, stdout); }

int main(void) { return run_program(); }

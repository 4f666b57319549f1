/* What the program takes from the world around it: start_<architecture>.c where there is no operating system, hosted.c
 * where there is one. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>

int run_program(void); /* 0 when all went as it should */
void write_bytes(const char *text, size_t bytes);

#endif

// Placement problems in CSV files.
#ifndef STOWAGE_BENCH_INSTANCES_H_
#define STOWAGE_BENCH_INSTANCES_H_

#include <stowage/place.h>

typedef void (*bench_visit)(void* user, const char* name, const stow_problem* problem);

// Calls |visit| with |path|, or, where it is a folder, with every *.csv in it in order of name; the
// name is the file's without folder and ending. Ends the program where one cannot be read.
void bench_each_csv(const char* path, bench_visit visit, void* user);

#endif  // STOWAGE_BENCH_INSTANCES_H_

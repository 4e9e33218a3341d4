// What has no kernel: the executor itself carries these out. `custom` ops are known by name.
#include "exec/kernels/support/kernel.h"

STOWI_KERNEL(INPUT, NULL, NULL);
STOWI_KERNEL(PARAM, NULL, NULL);
STOWI_KERNEL(CONSTANT, NULL, NULL);
STOWI_KERNEL(ARGS, NULL, NULL);
STOWI_KERNEL(YIELD, NULL, NULL);
STOWI_KERNEL(IF, NULL, NULL);
STOWI_KERNEL(LOOP, NULL, NULL);
STOWI_KERNEL(CUSTOM, NULL, NULL);

// What a program needs on a Cortex-M of QEMU: vectors, its FPU, and a console (semihosting). QEMU
// has put everything where the linker says, data too.
#include <stdint.h>

extern uint32_t board_stack[];
extern int main(int argc, char** argv);
int puts(const char* text);

static intptr_t ask_host(intptr_t what, const void* data) {
  register intptr_t r0 __asm__("r0") = what;
  register const void* r1 __asm__("r1") = data;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

int puts(const char* text) {
  ask_host(4, text);  // SYS_WRITE0
  ask_host(4, "\n");
  return 0;
}

static void stop(void) { ask_host(24, (const void*)0x20026); }  // SYS_EXIT: the program has ended

static void fault(void) {
  puts("fault");
  stop();
}

static void start(void) {
  volatile uint32_t* access = (volatile uint32_t*)0xE000ED88;  // CPACR
  *access |= 0xF << 20;
  __asm__ volatile("dsb\n isb");
  char* no_words[] = {"program", 0};
  main(1, no_words);
  stop();
}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    board_stack,        (const void*)start, (const void*)fault, (const void*)fault,
    (const void*)fault, (const void*)fault, (const void*)fault};

// The hash in pages' policies, at every length around the ends of a block.
#include "report/write/sha256.h"
#include "support/test.h"

// Of bytes 1, 8, 15 … (7 more each, modulo 256); made by another implementation.
typedef struct known {
  size_t size;
  const char* base64;
} known;

TEST(HashesAreThoseOfAnotherImplementation) {
  static const known table[] = {
      {0, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
      {1, "S/USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPHeFRZo="},
      {3, "zlYsZ26nq6mBL1TbFGsAlgEb8+Qj7fsKb4+ysCZ0qAE="},
      {54, "VVa+HCBL5L4CZtJNBlsAY0Ps0yfArbwMmNs6NZ63qbY="},
      {55, "FvpXoKNCOnFdWUUWM582GJ1rX5N1SpcU/vICYWqfq/4="},
      {56, "w3tE5fGxhVSzaWb0+OCL+/MWTEtsEDdNEtiYUIkgc8U="},
      {57, "ErI0kiUCAi91WrhVCj1OICrTnIHZYaT1nsOdX9g9Fac="},
      {63, "u7qZLSyFr5YPsph6H9BeCqgqPbPHQN2Jgqnic7deNqM="},
      {64, "Zr1GM+1vccTs+kdjv3uhyOx2Et6apsBXintnUgfHHgs="},
      {65, "n33EcQe3UKHz01212VR/JO9A2ltzG5VA1PQ3EKFU9sk="},
      {119, "o+0we3MPp3wHUxMAxuSigjMAEdTUyva7e2OuBZUPS2Y="},
      {120, "jjsV2f6nRyZVqgaWILf4wuVe4UmfdjIAp1Ff6CbpnSA="},
      {128, "5GLBMP74yX4099w/860vizUzq4Sa8hwQUxVSooUjh6Q="},
      {1000, "CV7LYuMHk6tLlUzWoFhtDMkffqWxMyaU2Np4DphnbXg="},
  };
  unsigned char data[1000];
  for (size_t i = 0; i < sizeof data; ++i) {
    data[i] = (unsigned char)(i * 7 + 1);
  }
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    char base64[STOWI_REPORT_SHA256_BASE64_SIZE];
    stowi_report_sha256_base64(data, table[i].size, base64);
    CHECK_TEXT(base64, table[i].base64);
  }
}

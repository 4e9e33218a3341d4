// multi_head_attention, group_query_attention and qkv_attention against numbers of onnxruntime,
// and what it has no kernel for by hand.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "support/test.h"

TEST(MultiHeadAddsBiases) {
  kernel_case* c =
      kernel_case_create("f32[2, 2, 4]; f32[2, 3, 4]; f32[2, 3, 4]; f32[12]",
                         "multi_head_attention(%0, %1, %2, %3) {heads = 2}", "f32[2, 2, 4]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, -0.75F, 0.375F, -1, -0.5F, 0, 0.5F, -1.125F, -0.5F, -1.25F, -1.125F,
             -0.875F, -0.625F, 1.25F, -0.375F, -1.25F, 1.25F, 0.25F, -1.25F, -1.25F, -1.25F, 1.25F,
             0.25F, 0.625F, 1.5F);
  KERNEL_SET(c, 2, float, -0.25F, 1.25F, -0.25F, 0.625F, 1, -1.375F, 0.75F, 1, 1.5F, 0.625F, 0,
             -1.125F, 0.875F, -0.125F, 1, -1.375F, -0.5F, 1, 0.375F, 0.625F, 0.25F, 1, 1, 0.875F);
  KERNEL_SET(c, 3, float, 0.5F, -0.75F, -1.375F, 0.875F, -0.5F, -0.75F, -1.5F, -1.125F, -1.5F,
             -0.375F, -0.625F, 0);
  KERNEL_GIVES(c, 0, 1e-5, -0.2089585, 0.1738841, -0.386575, 0.36802, -0.237693, 0.07801214,
               -0.3998702, 0.345088, -1.56367, 0.3430096, -0.09217896, 0.131002, -1.484702,
               0.2809341, 0.322373, -0.2558447);
  kernel_case_destroy(c);
}

TEST(MultiHeadHidesPadding) {
  kernel_case* c = kernel_case_create(
      "f32[2, 2, 4]; f32[2, 3, 4]; f32[2, 3, 4]; i32[2, 3]",
      "multi_head_attention(%0, %1, %2, _, %3) {heads = 2, mask_value = -4.0}", "f32[2, 2, 4]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, -0.75F, 0.375F, -1, -0.5F, 0, 0.5F, -1.125F, -0.5F, -1.25F, -1.125F,
             -0.875F, -0.625F, 1.25F, -0.375F, -1.25F, 1.25F, 0.25F, -1.25F, -1.25F, -1.25F, 1.25F,
             0.25F, 0.625F, 1.5F);
  KERNEL_SET(c, 2, float, -0.25F, 1.25F, -0.25F, 0.625F, 1, -1.375F, 0.75F, 1, 1.5F, 0.625F, 0,
             -1.125F, 0.875F, -0.125F, 1, -1.375F, -0.5F, 1, 0.375F, 0.625F, 0.25F, 1, 1, 0.875F);
  KERNEL_SET(c, 4, int32_t, 1, 1, 0, 1, 0, 1);
  KERNEL_GIVES(c, 0, 1e-5, 0.2680402, 0.3141031, 0.2809926, 0.8104156, 0.4003086, -0.001986461,
               0.2672188, 0.8045365, 0.5954159, 0.346054, 0.8810743, -0.821336, 0.6249473,
               0.2995011, 0.9983487, 0.4695154);
  kernel_case_destroy(c);
}

TEST(MultiHeadTakesLengths) {
  kernel_case* c =
      kernel_case_create("f32[2, 2, 4]; f32[2, 3, 4]; f32[2, 3, 4]; i32[2]",
                         "multi_head_attention(%0, %1, %2, _, %3) {heads = 2}", "f32[2, 2, 4]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, -0.75F, 0.375F, -1, -0.5F, 0, 0.5F, -1.125F, -0.5F, -1.25F, -1.125F,
             -0.875F, -0.625F, 1.25F, -0.375F, -1.25F, 1.25F, 0.25F, -1.25F, -1.25F, -1.25F, 1.25F,
             0.25F, 0.625F, 1.5F);
  KERNEL_SET(c, 2, float, -0.25F, 1.25F, -0.25F, 0.625F, 1, -1.375F, 0.75F, 1, 1.5F, 0.625F, 0,
             -1.125F, 0.875F, -0.125F, 1, -1.375F, -0.5F, 1, 0.375F, 0.625F, 0.25F, 1, 1, 0.875F);
  KERNEL_SET(c, 4, int32_t, 2, 3);
  KERNEL_GIVES(c, 0, 1e-5, 0.2034295, 0.2977979, 0.2830971, 0.8249114, 0.3577411, -0.02625617,
               0.2693253, 0.819747, -0.01919965, 0.7129698, 0.4201904, 0.495848, 0.0579734,
               0.6525528, 0.9210267, 0.4888022);
  kernel_case_destroy(c);
}

TEST(MultiHeadGrowsCaches) {
  kernel_case* c = kernel_case_create(
      "f32[2, 2, 4]; f32[2, 2, 4]; f32[2, 2, 4]; f32[12]; f32[1, 1, 2, 3]; f32[2, 2, 1, 2]; f32[2, "
      "2, 1, 2]",
      "multi_head_attention(%0, %1, %2, %3, _, %4, %5, %6) {heads = 2}",
      "f32[2, 2, 4]; f32[2, 2, 3, 2]; f32[2, 2, 3, 2]; f32[2, 2, 2, 3]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, 0.25F, -0.625F, 0.125F, 0.375F, 0.5F, 0.375F, -1.5F, -0.875F, 0.875F,
             0.375F, -0.625F, -0.5F, 1.375F, 0.75F, -0.375F, -0.625F);
  KERNEL_SET(c, 2, float, -1.125F, 0.875F, 0.375F, -0.25F, 0.625F, 0.125F, 0.125F, 0.5F, 0.875F, 0,
             -0.25F, -0.75F, -0.625F, 1.5F, -1, -1.25F);
  KERNEL_SET(c, 3, float, 0.375F, -0.5F, -1.25F, 0.125F, 0.75F, -1.5F, 0, -1.125F, 0.25F, 0.875F, 1,
             0.875F);
  KERNEL_SET(c, 5, float, -0.625F, 0.375F, 0.5F, 1.25F, 0.625F, 0.75F);
  KERNEL_SET(c, 6, float, -1.25F, -0.625F, -0.375F, 0.5F, 1.125F, -0.5F, 0, 0.75F);
  KERNEL_SET(c, 7, float, -1, -0.375F, -1, -1.125F, 0.625F, 1.125F, -1.125F, 0.625F);
  KERNEL_GIVES(c, 0, 1e-5, -0.4970649, 1.373113, 1.045829, 1.241697, -0.4866124, 1.409443,
               0.2981867, 0.3350555, 0.4806122, 1.494183, 0.4103973, -0.09084961, 0.4594495,
               1.476722, -0.4768076, 0.2931917);
  KERNEL_GIVES(c, 1, 1e-5, -1.25, -0.625, 1, -2.125, 1.25, -1.125, -0.375, 0.5, 0.125, -0.75, -1.5,
               -2, 1.125, -0.5, 1.625, -1.125, 2.125, -0.75, 0, 0.75, -0.625, -1.625, -0.375,
               -1.75);
  KERNEL_GIVES(c, 2, 1e-5, -1, -0.375, -0.875, 1.75, 0.875, 1, -1, -1.125, 1.375, 0.625, 1.125,
               1.375, 0.625, 1.125, 1.125, 0.875, -0.375, 2.375, -1.125, 0.625, 0.75, 0.125, 0,
               -0.375);
  KERNEL_GIVES(c, 3, 1e-5, 0.535097, 2.463175, 1.350738, 1.636699, 3.795932, 2.683495, 0.148398,
               0.06564078, 3.240039, 1.990252, 0.1720097, 2.296796, -0.1388641, 1.468806, 1.229204,
               2.46534, 2.878903, 2.805029, -1.354204, 3.170281, 2.93068, 1.382583, 0.3929806,
               0.4737864);
  kernel_case_destroy(c);
}

TEST(CausalMultiHeadSeesOnlyEarlierKeys) {
  kernel_case* c = kernel_case_create(
      "f32[2, 2, 4]; f32[2, 2, 4]; f32[2, 2, 4]; f32[2, 2, 1, 2]; f32[2, 2, 1, 2]",
      "multi_head_attention(%0, %1, %2, _, _, _, %3, %4) {heads = 2, causal = true}",
      "f32[2, 2, 4]; f32[2, 2, 3, 2]; f32[2, 2, 3, 2]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, 0.625F, 0.75F, 0.625F, 0.125F, -1.25F, 0.875F, -1, -0.125F, 1.375F, 0.25F,
             -0.625F, -1.375F, -0.75F, 0.125F, 1.125F, 1);
  KERNEL_SET(c, 2, float, -0.875F, 0.625F, 0.5F, 1, 0, 0, -0.25F, 1.25F, 0.125F, -1.25F, 0, 1.125F,
             1, -0.375F, 1.25F, -1.25F);
  KERNEL_SET(c, 6, float, 0.75F, 0.375F, -1.5F, -0.125F, -0.375F, -0.25F, -0.75F, 1.125F);
  KERNEL_SET(c, 7, float, 1, -1.125F, 0.875F, 0.375F, -1, -0.25F, -0.75F, 0.125F);
  KERNEL_GIVES(c, 0, 1e-5, 0.1656607, -0.3462833, 0.83937, 0.4343833, 0.1811891, -0.3159235,
               0.4131864, 0.781518, -0.6447874, -0.5657445, -0.05589917, 1.050468, -0.08317973,
               -0.662976, 0.7553196, -0.6962093);
  KERNEL_GIVES(c, 1, 1e-5, 0.75, 0.375, 0.625, 0.75, -1.25, 0.875, -1.5, -0.125, 0.625, 0.125, -1,
               -0.125, -0.375, -0.25, 1.375, 0.25, -0.75, 0.125, -0.75, 1.125, -0.625, -1.375,
               1.125, 1);
  KERNEL_GIVES(c, 2, 1e-5, 1, -1.125, -0.875, 0.625, 0, 0, 0.875, 0.375, 0.5, 1, -0.25, 1.25, -1,
               -0.25, 0.125, -1.25, 1, -0.375, -0.75, 0.125, 0, 1.125, 1.25, -1.25);
  kernel_case_destroy(c);
}

TEST(MultiHeadTakesKeysFromCache) {
  kernel_case* c =
      kernel_case_create("f32[2, 2, 4]; f32[2, 2, 3, 2]; f32[2, 2, 3, 2]; f32[12]",
                         "multi_head_attention(%0, %1, %2, %3) {heads = 2}", "f32[2, 2, 4]");
  KERNEL_SET(c, 0, float, -0.875F, -1.125F, -1.5F, 0, 0.125F, -1.375F, -0.875F, 0.375F, -0.375F,
             -0.875F, -1.5F, -1.5F, 0.375F, -1.25F, 1.125F, 0.125F);
  KERNEL_SET(c, 1, float, -1.125F, 0, -1.25F, -1.125F, 1.125F, 0, -0.625F, 1.125F, -0.5F, -1, 1.25F,
             -1.5F, 1.375F, -1.375F, 1, -0.125F, -1.125F, 1.5F, -0.25F, -1.375F, 0.75F, 1.5F,
             -1.125F, 0.125F);
  KERNEL_SET(c, 2, float, 1.375F, -1.125F, 0.875F, -0.25F, -1.375F, -0.875F, 1.125F, 0.625F, 1.25F,
             0.125F, -1.125F, -0.625F, -0.625F, -0.75F, -1.25F, 1.125F, -1.25F, 0.875F, 0.625F,
             -0.25F, 0.375F, -0.25F, 0.125F, 0.75F);
  KERNEL_SET(c, 3, float, -0.125F, 1.5F, 1, -1.375F, 1.25F, -1.125F, -0.875F, -0.375F, 1, 0, 0.75F,
             -1.375F);
  KERNEL_GIVES(c, 0, 1e-5, 0.8956622, -0.7475883, 0.2059752, -0.1691238, 0.2726623, -0.7662895,
               -0.1292394, -0.2693549, -1.196154, 0.7777272, 0.5942554, -0.1894639, -1.05685,
               0.4629937, 0.5378944, -0.1999619);
  kernel_case_destroy(c);
}

TEST(GroupQuerySeesWindow) {
  kernel_case* c = kernel_case_create(
      "f32[1, 3, 16]; f32[1, 3, 8]; f32[1, 3, 8]; i32[1]; i32[1]",
      "group_query_attention(%0, %1, %2, _, _, %3, %4) {heads = 2, kv_heads = 1, window = 2}",
      "f32[1, 3, 16]; f32[1, 1, 3, 8]; f32[1, 1, 3, 8]");
  KERNEL_SET(c, 0, float, 0.75F, -1.375F, -0.75F, -0.875F, 1, -0.375F, 0.875F, 0.75F, 0.625F,
             0.375F, 1.125F, -1.5F, 0.5F, -1.375F, 0.375F, -0.125F, 1.5F, 1.125F, -1.375F, 1.25F,
             -1, -0.375F, 0.125F, 1.25F, -0.5F, 1.375F, -0.625F, -0.25F, 1.375F, 0.75F, 0.5F,
             -0.375F, -1.5F, -1.125F, -0.625F, 0.25F, 1.125F, -1.25F, -1.375F, 0.5F, -0.75F, 1,
             0.25F, 1.25F, -0.125F, -0.125F, 0.875F, -1.25F);
  KERNEL_SET(c, 1, float, -0.875F, 1.25F, -1.125F, 1.125F, 0.625F, 1.5F, -0.75F, 0.25F, -1.375F,
             0.5F, -1.375F, -0.375F, -0.5F, -1, 0.125F, -0.625F, -1.25F, 0.75F, -1, -0.5F, -0.625F,
             0.625F, 0.75F, 0);
  KERNEL_SET(c, 2, float, -1.375F, -0.125F, 0.625F, 1.5F, 1.375F, -1, -0.75F, 0, -0.75F, -1.125F,
             -0.875F, 1.375F, 0.625F, 0, 0.125F, -0.5F, 0.125F, -1, -1.375F, 0.25F, 0.125F, -0.375F,
             -0.125F, -1.125F);
  KERNEL_SET(c, 5, int32_t, 2);
  KERNEL_SET(c, 6, int32_t, 3);
  KERNEL_GIVES(c, 0, 1e-5, -1.375, -0.125, 0.625, 1.5, 1.375, -1, -0.75, 0, -1.375, -0.125, 0.625,
               1.5, 1.375, -1, -0.75, 0, -1.170886, -0.4515833, 0.1351251, 1.459177, 1.130063,
               -0.6734168, -0.4642397, -0.1632916, -1.210271, -0.3885662, 0.2296506, 1.467054,
               1.177325, -0.7364337, -0.5193796, -0.1317831, -0.5506886, -1.096527, -0.9888923,
               1.118743, 0.5111078, -0.08541917, 0.0680539, -0.6423653, -0.3378487, -1.066121,
               -1.110515, 0.8450912, 0.389485, -0.1766363, 0.007242486, -0.7943938);
  KERNEL_GIVES(c, 1, 1e-5, -0.875, 1.25, -1.125, 1.125, 0.625, 1.5, -0.75, 0.25, -1.375, 0.5,
               -1.375, -0.375, -0.5, -1, 0.125, -0.625, -1.25, 0.75, -1, -0.5, -0.625, 0.625, 0.75,
               0);
  KERNEL_GIVES(c, 2, 1e-5, -1.375, -0.125, 0.625, 1.5, 1.375, -1, -0.75, 0, -0.75, -1.125, -0.875,
               1.375, 0.625, 0, 0.125, -0.5, 0.125, -1, -1.375, 0.25, 0.125, -0.375, -0.125,
               -1.125);
  kernel_case_destroy(c);
}

TEST(GroupQueryHasSinks) {
  kernel_case* c = kernel_case_create(
      "f32[1, 3, 16]; f32[1, 3, 8]; f32[1, 3, 8]; i32[1]; i32[1]; f32[1, 2, 3, 3]; f32[2]",
      "group_query_attention(%0, %1, %2, _, _, %3, %4, _, _, _, %5, %6) {heads = 2, kv_heads = 1, "
      "softcap = 2.0}",
      "f32[1, 3, 16]; f32[1, 1, 3, 8]; f32[1, 1, 3, 8]");
  KERNEL_SET(c, 0, float, 0.75F, -1.375F, -0.75F, -0.875F, 1, -0.375F, 0.875F, 0.75F, 0.625F,
             0.375F, 1.125F, -1.5F, 0.5F, -1.375F, 0.375F, -0.125F, 1.5F, 1.125F, -1.375F, 1.25F,
             -1, -0.375F, 0.125F, 1.25F, -0.5F, 1.375F, -0.625F, -0.25F, 1.375F, 0.75F, 0.5F,
             -0.375F, -1.5F, -1.125F, -0.625F, 0.25F, 1.125F, -1.25F, -1.375F, 0.5F, -0.75F, 1,
             0.25F, 1.25F, -0.125F, -0.125F, 0.875F, -1.25F);
  KERNEL_SET(c, 1, float, -0.875F, 1.25F, -1.125F, 1.125F, 0.625F, 1.5F, -0.75F, 0.25F, -1.375F,
             0.5F, -1.375F, -0.375F, -0.5F, -1, 0.125F, -0.625F, -1.25F, 0.75F, -1, -0.5F, -0.625F,
             0.625F, 0.75F, 0);
  KERNEL_SET(c, 2, float, -1.375F, -0.125F, 0.625F, 1.5F, 1.375F, -1, -0.75F, 0, -0.75F, -1.125F,
             -0.875F, 1.375F, 0.625F, 0, 0.125F, -0.5F, 0.125F, -1, -1.375F, 0.25F, 0.125F, -0.375F,
             -0.125F, -1.125F);
  KERNEL_SET(c, 5, int32_t, 2);
  KERNEL_SET(c, 6, int32_t, 3);
  KERNEL_SET(c, 10, float, 1.125F, -1.5F, -0.125F, -0.375F, 0.875F, 0.25F, -1, 0, 0.25F, 1.25F,
             0.125F, 1.25F, -0.5F, 1.375F, 1.375F, 0.875F, 1.125F, -0.125F);
  KERNEL_SET(c, 11, float, 1.375F, 0.125F);
  KERNEL_GIVES(c, 0, 1e-5, -0.3182739, -0.02893399, 0.14467, 0.3472079, 0.3182739, -0.2314719,
               -0.1736039, 0, -0.5824407, -0.05294916, 0.2647458, 0.6353899, 0.5824407, -0.4235933,
               -0.3176949, 0, -0.4799152, -0.3735604, -0.1614557, 0.6973789, 0.440891, -0.1787419,
               -0.09503222, -0.1560968, -0.7997359, -0.7592999, -0.426439, 1.234194, 0.7185255,
               -0.2272536, -0.08922987, -0.3248414, -0.2983573, -0.4621393, -0.3832953, 0.5372331,
               0.2909278, -0.1101269, -0.02677932, -0.282816, -0.8002213, -0.6620502, -0.332083,
               1.166586, 0.7730957, -0.3916195, -0.2197931, -0.3532809);
  KERNEL_GIVES(c, 1, 1e-5, -0.875, 1.25, -1.125, 1.125, 0.625, 1.5, -0.75, 0.25, -1.375, 0.5,
               -1.375, -0.375, -0.5, -1, 0.125, -0.625, -1.25, 0.75, -1, -0.5, -0.625, 0.625, 0.75,
               0);
  KERNEL_GIVES(c, 2, 1e-5, -1.375, -0.125, 0.625, 1.5, 1.375, -1, -0.75, 0, -0.75, -1.125, -0.875,
               1.375, 0.625, 0, 0.125, -0.5, 0.125, -1, -1.375, 0.25, 0.125, -0.375, -0.125,
               -1.125);
  kernel_case_destroy(c);
}

TEST(GroupQuerySmoothsSoftmax) {
  kernel_case* c = kernel_case_create("f32[1, 3, 16]; f32[1, 3, 8]; f32[1, 3, 8]; i32[1]; i32[1]",
                                      "group_query_attention(%0, %1, %2, _, _, %3, %4) {heads = 2, "
                                      "kv_heads = 1, smooth_softmax = true}",
                                      "f32[1, 3, 16]; f32[1, 1, 3, 8]; f32[1, 1, 3, 8]");
  KERNEL_SET(c, 0, float, 0.75F, -1.375F, -0.75F, -0.875F, 1, -0.375F, 0.875F, 0.75F, 0.625F,
             0.375F, 1.125F, -1.5F, 0.5F, -1.375F, 0.375F, -0.125F, 1.5F, 1.125F, -1.375F, 1.25F,
             -1, -0.375F, 0.125F, 1.25F, -0.5F, 1.375F, -0.625F, -0.25F, 1.375F, 0.75F, 0.5F,
             -0.375F, -1.5F, -1.125F, -0.625F, 0.25F, 1.125F, -1.25F, -1.375F, 0.5F, -0.75F, 1,
             0.25F, 1.25F, -0.125F, -0.125F, 0.875F, -1.25F);
  KERNEL_SET(c, 1, float, -0.875F, 1.25F, -1.125F, 1.125F, 0.625F, 1.5F, -0.75F, 0.25F, -1.375F,
             0.5F, -1.375F, -0.375F, -0.5F, -1, 0.125F, -0.625F, -1.25F, 0.75F, -1, -0.5F, -0.625F,
             0.625F, 0.75F, 0);
  KERNEL_SET(c, 2, float, -1.375F, -0.125F, 0.625F, 1.5F, 1.375F, -1, -0.75F, 0, -0.75F, -1.125F,
             -0.875F, 1.375F, 0.625F, 0, 0.125F, -0.5F, 0.125F, -1, -1.375F, 0.25F, 0.125F, -0.375F,
             -0.125F, -1.125F);
  KERNEL_SET(c, 5, int32_t, 2);
  KERNEL_SET(c, 6, int32_t, 3);
  KERNEL_GIVES(c, 0, 1e-5, -0.3609312, -0.03281192, 0.1640596, 0.3937431, 0.3609312, -0.2624954,
               -0.1968715, 0, -0.1948925, -0.0177175, 0.08858752, 0.21261, 0.1948925, -0.14174,
               -0.106305, 0, -0.8850265, -0.3413341, 0.1021358, 1.102935, 0.85417, -0.5090094,
               -0.3509006, -0.1234257, -1.031596, -0.3312014, 0.1957468, 1.25047, 1.003514,
               -0.6277125, -0.4427025, -0.1123277, -0.6554937, -0.6534398, -0.4052747, 1.009035,
               0.6330323, -0.2979196, -0.148465, -0.3645306, -0.5887561, -0.6258221, -0.4310774,
               0.9056702, 0.6172969, -0.3900083, -0.2152792, -0.4390837);
  KERNEL_GIVES(c, 1, 1e-5, -0.875, 1.25, -1.125, 1.125, 0.625, 1.5, -0.75, 0.25, -1.375, 0.5,
               -1.375, -0.375, -0.5, -1, 0.125, -0.625, -1.25, 0.75, -1, -0.5, -0.625, 0.625, 0.75,
               0);
  KERNEL_GIVES(c, 2, 1e-5, -1.375, -0.125, 0.625, 1.5, 1.375, -1, -0.75, 0, -0.75, -1.125, -0.875,
               1.375, 0.625, 0, 0.125, -0.5, 0.125, -1, -1.375, 0.25, 0.125, -0.375, -0.125,
               -1.125);
  kernel_case_destroy(c);
}

TEST(ProjectsInside) {
  kernel_case* c = kernel_case_create("f32[1, 2, 3]; f32[3, 12]; f32[12]; i32[1, 2]",
                                      "qkv_attention(%0, %1, %2, %3) {heads = 2, causal = true}",
                                      "f32[1, 2, 4]");
  KERNEL_SET(c, 0, float, 0.25F, -0.375F, 0.25F, -0.375F, 0.25F, -1.375F);
  KERNEL_SET(c, 1, float, -1.375F, 0.875F, 1.125F, -0.75F, -1.5F, -1.5F, 0.875F, -0.125F, -0.75F,
             0.625F, 0, -0.25F, -1.25F, -0.375F, 0.875F, 0.5F, -0.125F, -1, 0.375F, -1.5F, 1.5F,
             0.25F, 0.625F, 0.125F, -0.5F, 1.125F, -1.5F, -0.25F, 0.75F, 0.875F, -0.75F, -1.5F,
             1.5F, -1.5F, 1, 0.25F);
  KERNEL_SET(c, 2, float, -1.5F, -0.875F, -1, -1.375F, 0.25F, -1.125F, -0.5F, -0.375F, -1.5F, -0.5F,
             0.375F, 0.25F);
  KERNEL_SET(c, 3, int32_t, 1, 1);
  KERNEL_GIVES(c, 0, 1e-5, -1.875, -0.8125, 0.390625, 0.203125, -2.819341, 1.204955, -0.181361,
               0.1234814);
  kernel_case_destroy(c);
}

TEST(ProjectsToOtherWidths) {
  kernel_case* c = kernel_case_create("f32[1, 2, 2]; f32[2, 10]; f32[10]",
                                      "qkv_attention(%0, %1, %2) {heads = 2, sizes = [4, 4, 2]}",
                                      "f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0.125F, 1.25F, -0.875F, -0.375F);
  KERNEL_SET(c, 1, float, 0.5F, -1, -0.625F, 0.25F, 0.625F, -1.5F, -0.375F, -0.375F, -0.625F,
             -0.625F, 1.125F, -0.375F, 0.375F, -1.375F, 0.875F, 0.125F, -0.375F, 0.375F, 0.875F,
             0.75F);
  KERNEL_SET(c, 2, float, 1.125F, 1.375F, 0.875F, -0.5F, 0.875F, 0.5F, -0.5F, -0.125F, -1.5F,
             -0.875F);
  KERNEL_GIVES(c, 0, 1e-5, -0.5208346, -0.4764754, -1.168969, -0.4408444);
  kernel_case_destroy(c);
}

TEST(ProjectsAfterPast) {
  kernel_case* c = kernel_case_create(
      "f32[1, 2, 2]; f32[2, 12]; f32[12]; i32[1]; f32[2, 1, 2, 1, 2]",
      "qkv_attention(%0, %1, %2, %3, %4) {heads = 2}", "f32[1, 2, 4]; f32[2, 1, 2, 3, 2]");
  KERNEL_SET(c, 0, float, -1.125F, 1.25F, 1.375F, 0.75F);
  KERNEL_SET(c, 1, float, -0.75F, 1.375F, -0.875F, 1, 0.875F, 1.25F, 0.75F, -1.125F, -1.5F, -1.5F,
             1.5F, -1, 1.125F, -0.25F, 1.125F, 0.625F, -1.375F, -0.25F, 0.5F, 0, -1.125F, 0.875F,
             0.625F, -1.375F);
  KERNEL_SET(c, 2, float, -1, 0.5F, -1.125F, -1.375F, -0.375F, -0.75F, -0.5F, 0.75F, -0.875F,
             0.625F, 0.25F, -0.25F);
  KERNEL_SET(c, 3, int32_t, 3);
  KERNEL_SET(c, 4, float, -1.25F, -0.625F, -0.375F, 1, -1.5F, -0.75F, 0.75F, -1.5F);
  KERNEL_GIVES(c, 0, 1e-5, -1.652238, 0.9648273, 2.686384, -2.603307, -3.154467, -0.5539543,
               -0.0534948, -1.134529);
  KERNEL_GIVES(c, 1, 1e-5, -1.25, -0.625, -3.078125, -2.46875, -0.203125, 0.78125, -0.375, 1,
               -0.71875, 2.015625, 0.90625, -0.796875, -1.5, -0.75, -0.59375, 3.40625, -3.78125,
               -0.78125, 0.75, -1.5, -0.65625, -0.84375, 2.78125, -2.65625);
  kernel_case_destroy(c);
}

TEST(ProjectsQuantized) {
  kernel_case* c = kernel_case_create(
      "u8[1, 2, 2]; i8[2, 12]; f32[12]; f32[1]; f32[1]; u8[1]; i8[1]",
      "qkv_attention(%0, %1, %2, _, _, _, _, _, _, %3, %4, %5, %6) {heads = 2}", "f32[1, 2, 4]");
  KERNEL_SET(c, 0, uint8_t, 5, 2, 4, 0);
  KERNEL_SET(c, 1, int8_t, -3, 3, 5, -4, 4, 5, 2, -3, 2, -2, -2, 1, -4, -2, 5, -1, 1, -4, 2, -1, 1,
             -5, -3, -3);
  KERNEL_SET(c, 2, float, -1.125F, 1.25F, 0, -0.625F, -0.75F, -0.75F, -0.75F, 0.5F, 0.125F, 1.25F,
             1, -0.625F);
  KERNEL_SET(c, 9, float, 0.25F);
  KERNEL_SET(c, 10, float, 0.125F);
  KERNEL_SET(c, 11, uint8_t, 4);
  KERNEL_SET(c, 12, int8_t, 1);
  KERNEL_GIVES(c, 0, 1e-5, 0.1385973, 1.796041, 1.318877, -0.2567262, 0.1386928, 1.794608, 1.325277,
               -0.2520714);
  kernel_case_destroy(c);
}

// With q of zeros each value counts the same.
TEST(MultiHeadTakesPackedTensors) {
  kernel_case* c = kernel_case_create("f32[1, 2, 1, 3, 2]", "multi_head_attention(%0) {heads = 1}",
                                      "f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0, 0, 5, 6, 1, 2, 0, 0, 7, 8, 3, 6);
  KERNEL_GIVES(c, 0, 1e-6, 2, 4, 2, 4);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 2, 6]", "multi_head_attention(%0) {heads = 1}", "f32[1, 2, 2]");
  KERNEL_SET(c, 0, float, 0, 0, 5, 6, 1, 2, 0, 0, 7, 8, 3, 6);
  KERNEL_GIVES(c, 0, 1e-6, 2, 4, 2, 4);
  kernel_case_destroy(c);
  c = kernel_case_create("f32[1, 1, 2]; f32[1, 2, 1, 2, 2]",
                         "multi_head_attention(%0, %1) {heads = 1}", "f32[1, 1, 2]");
  KERNEL_SET(c, 1, float, 5, 6, 1, 2, 7, 8, 3, 6);
  KERNEL_GIVES(c, 0, 1e-6, 2, 4);
  kernel_case_destroy(c);
}

// The new entry goes behind the one that is there; the rest of the cache stays.
TEST(MultiHeadWritesIntoCache) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 4, 1]; f32[1, 1, 4, 1]; i32[]",
      "multi_head_attention(%0, %1, %2, _, _, _, %3, %4, %5) {heads = 1, share_past = true}",
      "f32[1, 1, 1]; f32[1, 1, 4, 1]; f32[1, 1, 4, 1]");
  KERNEL_SET(c, 1, float, 9);
  KERNEL_SET(c, 2, float, 3);
  KERNEL_SET(c, 6, float, 1, 2, 3, 4);
  KERNEL_SET(c, 7, float, 5, 6, 7, 8);
  KERNEL_SET(c, 8, int32_t, 1);
  KERNEL_GIVES(c, 0, 1e-6, 4);
  KERNEL_GIVES(c, 1, 0, 1, 9, 3, 4);
  KERNEL_GIVES(c, 2, 0, 5, 3, 7, 8);
  KERNEL_SET(c, 8, int32_t, 4);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  KERNEL_SET(c, 8, int32_t, -1);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(MultiHeadRefusesOtherBeams) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]; i32[1, 1, 4]",
      "multi_head_attention(%0, %1, %2, _, _, _, _, _, _, %3) {heads = 1}", "f32[1, 1, 1]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// Each batch has its own length; what is behind it in the cache is 0. With q of zeros the result is
// the mean of the values.
TEST(GroupQueryHonoursLengths) {
  kernel_case* c = kernel_case_create(
      "f32[2, 1, 2]; f32[2, 1, 1]; f32[2, 1, 1]; f32[2, 1, 3, 1]; f32[2, 1, 3, 1]; i32[2]; "
      "i32[] = [3]",
      "group_query_attention(%0, %1, %2, %3, %4, %5, %6) {heads = 2, kv_heads = 1}",
      "f32[2, 1, 2]; f32[2, 1, 3, 1]; f32[2, 1, 3, 1]");
  KERNEL_SET(c, 1, float, 10, 20);
  KERNEL_SET(c, 2, float, 6, 5);
  KERNEL_SET(c, 3, float, 1, 2, 3, 4, 5, 6);
  KERNEL_SET(c, 4, float, 1, 2, 3, 3, 7, 7);
  KERNEL_SET(c, 5, int32_t, 2, 1);
  KERNEL_GIVES(c, 0, 1e-6, 3, 3, 4, 4);
  KERNEL_GIVES(c, 1, 0, 1, 2, 10, 4, 20, 0);
  KERNEL_GIVES(c, 2, 0, 1, 2, 6, 3, 5, 0);
  KERNEL_SET(c, 5, int32_t, 2, 7);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

// Entry 1 is turned by the second angle, a quarter: (x, y) to (-y, x).
TEST(GroupQueryTurnsKeys) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 1, 2]; f32[1, 1, 1, 2]; i32[1]; "
      "i32[] = [2]; f32[2, 1]; f32[2, 1]",
      "group_query_attention(%0, %1, %2, %3, %4, %5, %6, %7, %8) {heads = 1, kv_heads = 1, rotary "
      "= true}",
      "f32[1, 1, 2]; f32[1, 1, 2, 2]; f32[1, 1, 2, 2]");
  KERNEL_SET(c, 1, float, 3, 4);
  KERNEL_SET(c, 2, float, 8, 6);
  KERNEL_SET(c, 3, float, 1, 2);
  KERNEL_SET(c, 4, float, 2, 4);
  KERNEL_SET(c, 5, int32_t, 1);
  KERNEL_SET(c, 7, float, 1, 0);
  KERNEL_SET(c, 8, float, 0, 1);
  KERNEL_GIVES(c, 0, 1e-6, 5, 5);
  KERNEL_GIVES(c, 1, 0, 1, 2, -4, 3);
  kernel_case_destroy(c);
}

// A full cache of 3 with a window of 2 drops two keys at once; a row behind what is kept stays.
TEST(GroupQueryDropsKeys) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 1]; f32[1, 1, 3, 1]; f32[1, 1, 3, 1]; i32[1]; i32[]",
      "group_query_attention(%0, %1, %2, %3, %4, %5, %6) {heads = 1, kv_heads = 1, window = 2, "
      "share_past = true}",
      "f32[1, 1, 1]; f32[1, 1, 3, 1]; f32[1, 1, 3, 1]");
  KERNEL_SET(c, 1, float, 4);
  KERNEL_SET(c, 2, float, 40);
  KERNEL_SET(c, 3, float, 1, 2, 3);
  KERNEL_SET(c, 4, float, 10, 20, 30);
  KERNEL_SET(c, 5, int32_t, 3);
  KERNEL_SET(c, 6, int32_t, 4);
  KERNEL_GIVES(c, 0, 1e-6, 35);
  KERNEL_GIVES(c, 1, 0, 3, 4, 3);
  KERNEL_GIVES(c, 2, 0, 30, 40, 30);
  kernel_case_destroy(c);
}

// Keys become (3, 4) / sqrt(12.5) · (1, 2).
TEST(GroupQueryNormalizes) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; i32[1]; i32[] = [1]; f32[2]; f32[2]",
      "group_query_attention(%0, %1, %2, _, _, %3, %4, _, _, _, _, _, _, _, %5, %6) {heads = 1, "
      "kv_heads = 1}",
      "f32[1, 1, 2]; f32[1, 1, 1, 2]; f32[1, 1, 1, 2]");
  KERNEL_SET(c, 0, float, 1, 1);
  KERNEL_SET(c, 1, float, 3, 4);
  KERNEL_SET(c, 2, float, 8, 6);
  KERNEL_SET(c, 14, float, 1, 1);
  KERNEL_SET(c, 15, float, 1, 2);
  KERNEL_GIVES(c, 1, 1e-6, 0.848528, 2.262742);
  KERNEL_GIVES(c, 0, 1e-6, 8, 6);
  kernel_case_destroy(c);
}

TEST(GroupQueryRefusesQuantizedCaches) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; i32[1]; i32[] = [1]",
      "group_query_attention(%0, %1, %2, _, _, %3, %4) {heads = 1, kv_heads = 1, k_quant = "
      "\"per_tensor\"}",
      "f32[1, 1, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// Weights of q are zeros, so that values count the same.
TEST(ProjectsIntoCache) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 1]; f32[1, 3]; f32[2, 1, 1, 3, 1]; i32[]",
                         "qkv_attention(%0, %1, _, _, %2, _, %3) {heads = 1, share_past = true}",
                         "f32[1, 1, 1]; f32[2, 1, 1, 3, 1]");
  KERNEL_SET(c, 0, float, 2);
  KERNEL_SET(c, 1, float, 0, 3, 4);
  KERNEL_SET(c, 4, float, 1, 2, 3, 4, 5, 6);
  KERNEL_SET(c, 6, int32_t, 1);
  KERNEL_GIVES(c, 0, 1e-6, 6);
  KERNEL_GIVES(c, 1, 0, 1, 6, 3, 4, 8, 6);
  KERNEL_SET(c, 6, int32_t, 3);
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

TEST(RefusesRotationInside) {
  kernel_case* c =
      kernel_case_create("f32[1, 1, 2]; f32[2, 6]",
                         "qkv_attention(%0, %1) {heads = 1, rotary = true}", "f32[1, 1, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
  kernel_case_destroy(c);
}

// Sizes that types alone do not tell.
TEST(FusedRefusesInconsistentSizes) {
  static const char* const cases[][3] = {
      {"f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; f32[5]",
       "multi_head_attention(%0, %1, %2, %3) {heads = 1}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[1, 1, 4]; f32[1, 1, 2]", "multi_head_attention(%0, %1, %2) {heads = 1}",
       "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 2, 1, 1]",
       "multi_head_attention(%0, %1, %2, _, _, %3) {heads = 1}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[1, 3, 2]; f32[1, 3, 2]; i32[1, 2]",
       "multi_head_attention(%0, %1, %2, _, %3) {heads = 2}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[1, 1, 2]; f32[1, 1, 2]; i32[3]; i32[] = [1]",
       "group_query_attention(%0, %1, %2, _, _, %3, %4) {heads = 1, kv_heads = 1}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[1, 1, 3]; f32[1, 1, 2]; i32[1]; i32[] = [1]",
       "group_query_attention(%0, %1, %2, _, _, %3, %4) {heads = 1, kv_heads = 1}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[2, 6]; f32[5]", "qkv_attention(%0, %1, %2) {heads = 1}", "f32[1, 1, 2]"},
      {"f32[1, 1, 2]; f32[2, 6]", "qkv_attention(%0, %1) {heads = 4}", "f32[1, 1, 2]"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c = kernel_case_create(cases[i][0], cases[i][1], cases[i][2]);
    CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
    kernel_case_destroy(c);
  }
}

TEST(CachesAreOfRealsOfWholeBytes) {
  const char* const cases[][3] = {
      {"f32[1, 1, 2]; f32[1, 1, 4, 2]; c64[1, 1, 4, 2]; i32[] = [1]",
       "multi_head_attention(%0, %0, %0, _, _, _, %1, %2, %3) {heads = 1, share_past = true}",
       "f32[1, 1, 2]; f32[1, 1, 4, 2]; c64[1, 1, 4, 2]"},
      {"f32[1, 1, 2]; u4[1, 1, 4, 2]; f32[1, 1, 4, 2]; i32[] = [1]",
       "multi_head_attention(%0, %0, %0, _, _, _, %1, %2, %3) {heads = 1, share_past = true}",
       "f32[1, 1, 2]; u4[1, 1, 4, 2]; f32[1, 1, 4, 2]"},
      {"f32[1, 1, 2]; f32[1, 1, 4, 2]; c64[1, 1, 4, 2]; i32[1] = [1]; i32[] = [2]",
       "group_query_attention(%0, %0, %0, %1, %2, %3, %4) {heads = 1, kv_heads = 1, share_past = "
       "true}",
       "f32[1, 1, 2]; f32[1, 1, 4, 2]; c64[1, 1, 4, 2]"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    kernel_case* c = kernel_case_create(cases[i][0], cases[i][1], cases[i][2]);
    CHECK(kernel_case_run(c) == STOW_ERR_UNSUPPORTED);
    CHECK_HAS(kernel_case_message(c), "expected real numbers");
    kernel_case_destroy(c);
  }
}

TEST(LengthsBeyondAllNumbersAreRefused) {
  kernel_case* c = kernel_case_create(
      "f32[1, 1, 2]; f32[1, 1, 4, 2]; i64[1] = [9223372036854775807]; i32[] = [2]",
      "group_query_attention(%0, %0, %0, %1, %1, %2, %3) {heads = 1, kv_heads = 1, share_past = "
      "true}",
      "f32[1, 1, 2]; f32[1, 1, 4, 2]; f32[1, 1, 4, 2]");
  CHECK(kernel_case_run(c) == STOW_ERR_INVALID_ARGUMENT);
  kernel_case_destroy(c);
}

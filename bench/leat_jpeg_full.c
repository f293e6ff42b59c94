/* leat's side of jpeg_full: the files of a list, over and over: read, decode (accurate DCT),
 * bilinear 224 x 224, random flip, divide by 255, float32 batches of 64. */
#include "leat_bench.h"

int main(int argc, char **argv) {
    return bench_pictures(argc, argv, "jpeg_full", bench_load_picture);
}

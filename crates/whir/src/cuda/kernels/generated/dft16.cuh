// Written by `cargo xtask kernels`; do not edit.
// Fourier transforms of 2, 4, 8 and 16 points in registers: canonical words in Montgomery form, natural order
// in, bit-reversed positions out. The roots are Plonky3's two-adic generators. A product with a known
// factor takes its quotient from the factor's ratio to p: one slot of the multiplier less than Montgomery's.
#pragma once

#include "field.cuh"

// x * factor mod p for any word x, below (1 + x / 2^32)p; ratio = floor(factor * 2^32 / p).
__device__ __forceinline__ u32 mul_known(u32 x, u32 factor, u32 ratio) {
  return x * factor - (u32)(((u64)x * ratio) >> 32) * 0x78000001u;
}

// 2 points, w = 2013265920 (not in Montgomery form).
__device__ __forceinline__ void dft2(u32* s) {
  const u32 v0 = s[0];
  const u32 v1 = s[1];
  const u32 v2 = add(v0, v1);
  const u32 v3 = sub(v0, v1);
  s[0] = v2;
  s[1] = v3;
}

// 4 points, w = 1728404513 (not in Montgomery form).
__device__ __forceinline__ void dft4(u32* s) {
  const u32 v0 = s[0];
  const u32 v1 = s[1];
  const u32 v2 = s[2];
  const u32 v3 = s[3];
  const u32 v4 = add(v0, v2);
  const u32 v5 = sub(v0, v2);
  const u32 v6 = add(v1, v3);
  const u32 v7 = v1 - v3 + 0x78000001u;
  const u32 v8 = mul_known(v7, 0x67055c21u, 0xdbc72aefu);
  const u32 v9 = reduce_once(v8);
  const u32 v10 = add(v4, v6);
  const u32 v11 = sub(v4, v6);
  const u32 v12 = add(v5, v9);
  const u32 v13 = sub(v5, v9);
  s[0] = v10;
  s[1] = v11;
  s[2] = v12;
  s[3] = v13;
}

// 8 points, w = 1592366214 (not in Montgomery form).
__device__ __forceinline__ void dft8(u32* s) {
  const u32 v0 = s[0];
  const u32 v1 = s[1];
  const u32 v2 = s[2];
  const u32 v3 = s[3];
  const u32 v4 = s[4];
  const u32 v5 = s[5];
  const u32 v6 = s[6];
  const u32 v7 = s[7];
  const u32 v8 = add(v0, v4);
  const u32 v9 = sub(v0, v4);
  const u32 v10 = add(v1, v5);
  const u32 v11 = v1 - v5 + 0x78000001u;
  const u32 v12 = mul_known(v11, 0x5ee99486u, 0xca7ad671u);
  const u32 v13 = reduce_once(v12);
  const u32 v14 = add(v2, v6);
  const u32 v15 = v2 - v6 + 0x78000001u;
  const u32 v16 = mul_known(v15, 0x67055c21u, 0xdbc72aefu);
  const u32 v17 = reduce_once(v16);
  const u32 v18 = add(v3, v7);
  const u32 v19 = v3 - v7 + 0x78000001u;
  const u32 v20 = mul_known(v19, 0x0c9ea3bau, 0x1aec07f2u);
  const u32 v21 = reduce_once(v20);
  const u32 v22 = add(v8, v14);
  const u32 v23 = sub(v8, v14);
  const u32 v24 = add(v10, v18);
  const u32 v25 = v10 - v18 + 0x78000001u;
  const u32 v26 = mul_known(v25, 0x67055c21u, 0xdbc72aefu);
  const u32 v27 = reduce_once(v26);
  const u32 v28 = add(v22, v24);
  const u32 v29 = sub(v22, v24);
  const u32 v30 = add(v23, v27);
  const u32 v31 = sub(v23, v27);
  const u32 v32 = add(v9, v17);
  const u32 v33 = sub(v9, v17);
  const u32 v34 = add(v13, v21);
  const u32 v35 = v13 - v21 + 0x78000001u;
  const u32 v36 = mul_known(v35, 0x67055c21u, 0xdbc72aefu);
  const u32 v37 = reduce_once(v36);
  const u32 v38 = add(v32, v34);
  const u32 v39 = sub(v32, v34);
  const u32 v40 = add(v33, v37);
  const u32 v41 = sub(v33, v37);
  s[0] = v28;
  s[1] = v29;
  s[2] = v30;
  s[3] = v31;
  s[4] = v38;
  s[5] = v39;
  s[6] = v40;
  s[7] = v41;
}

// 16 points, w = 196396260 (not in Montgomery form).
__device__ __forceinline__ void dft16(u32* s) {
  const u32 v0 = s[0];
  const u32 v1 = s[1];
  const u32 v2 = s[2];
  const u32 v3 = s[3];
  const u32 v4 = s[4];
  const u32 v5 = s[5];
  const u32 v6 = s[6];
  const u32 v7 = s[7];
  const u32 v8 = s[8];
  const u32 v9 = s[9];
  const u32 v10 = s[10];
  const u32 v11 = s[11];
  const u32 v12 = s[12];
  const u32 v13 = s[13];
  const u32 v14 = s[14];
  const u32 v15 = s[15];
  const u32 v16 = add(v0, v8);
  const u32 v17 = sub(v0, v8);
  const u32 v18 = add(v1, v9);
  const u32 v19 = v1 - v9 + 0x78000001u;
  const u32 v20 = mul_known(v19, 0x0bb4c4e4u, 0x18f91b7fu);
  const u32 v21 = reduce_once(v20);
  const u32 v22 = add(v2, v10);
  const u32 v23 = v2 - v10 + 0x78000001u;
  const u32 v24 = mul_known(v23, 0x5ee99486u, 0xca7ad671u);
  const u32 v25 = reduce_once(v24);
  const u32 v26 = add(v3, v11);
  const u32 v27 = v3 - v11 + 0x78000001u;
  const u32 v28 = mul_known(v27, 0x04b49e08u, 0x0a09d9aau);
  const u32 v29 = reduce_once(v28);
  const u32 v30 = add(v4, v12);
  const u32 v31 = v4 - v12 + 0x78000001u;
  const u32 v32 = mul_known(v31, 0x67055c21u, 0xdbc72aefu);
  const u32 v33 = reduce_once(v32);
  const u32 v34 = add(v5, v13);
  const u32 v35 = v5 - v13 + 0x78000001u;
  const u32 v36 = mul_known(v35, 0x5376917au, 0xb20e0324u);
  const u32 v37 = reduce_once(v36);
  const u32 v38 = add(v6, v14);
  const u32 v39 = v6 - v14 + 0x78000001u;
  const u32 v40 = mul_known(v39, 0x0c9ea3bau, 0x1aec07f2u);
  const u32 v41 = reduce_once(v40);
  const u32 v42 = add(v7, v15);
  const u32 v43 = v7 - v15 + 0x78000001u;
  const u32 v44 = mul_known(v43, 0x563112a7u, 0xb7e027c9u);
  const u32 v45 = reduce_once(v44);
  const u32 v46 = add(v16, v30);
  const u32 v47 = sub(v16, v30);
  const u32 v48 = add(v18, v34);
  const u32 v49 = v18 - v34 + 0x78000001u;
  const u32 v50 = mul_known(v49, 0x5ee99486u, 0xca7ad671u);
  const u32 v51 = reduce_once(v50);
  const u32 v52 = add(v22, v38);
  const u32 v53 = v22 - v38 + 0x78000001u;
  const u32 v54 = mul_known(v53, 0x67055c21u, 0xdbc72aefu);
  const u32 v55 = reduce_once(v54);
  const u32 v56 = add(v26, v42);
  const u32 v57 = v26 - v42 + 0x78000001u;
  const u32 v58 = mul_known(v57, 0x0c9ea3bau, 0x1aec07f2u);
  const u32 v59 = reduce_once(v58);
  const u32 v60 = add(v46, v52);
  const u32 v61 = sub(v46, v52);
  const u32 v62 = add(v48, v56);
  const u32 v63 = v48 - v56 + 0x78000001u;
  const u32 v64 = mul_known(v63, 0x67055c21u, 0xdbc72aefu);
  const u32 v65 = reduce_once(v64);
  const u32 v66 = add(v60, v62);
  const u32 v67 = sub(v60, v62);
  const u32 v68 = add(v61, v65);
  const u32 v69 = sub(v61, v65);
  const u32 v70 = add(v47, v55);
  const u32 v71 = sub(v47, v55);
  const u32 v72 = add(v51, v59);
  const u32 v73 = v51 - v59 + 0x78000001u;
  const u32 v74 = mul_known(v73, 0x67055c21u, 0xdbc72aefu);
  const u32 v75 = reduce_once(v74);
  const u32 v76 = add(v70, v72);
  const u32 v77 = sub(v70, v72);
  const u32 v78 = add(v71, v75);
  const u32 v79 = sub(v71, v75);
  const u32 v80 = add(v17, v33);
  const u32 v81 = sub(v17, v33);
  const u32 v82 = add(v21, v37);
  const u32 v83 = v21 - v37 + 0x78000001u;
  const u32 v84 = mul_known(v83, 0x5ee99486u, 0xca7ad671u);
  const u32 v85 = reduce_once(v84);
  const u32 v86 = add(v25, v41);
  const u32 v87 = v25 - v41 + 0x78000001u;
  const u32 v88 = mul_known(v87, 0x67055c21u, 0xdbc72aefu);
  const u32 v89 = reduce_once(v88);
  const u32 v90 = add(v29, v45);
  const u32 v91 = v29 - v45 + 0x78000001u;
  const u32 v92 = mul_known(v91, 0x0c9ea3bau, 0x1aec07f2u);
  const u32 v93 = reduce_once(v92);
  const u32 v94 = add(v80, v86);
  const u32 v95 = sub(v80, v86);
  const u32 v96 = add(v82, v90);
  const u32 v97 = v82 - v90 + 0x78000001u;
  const u32 v98 = mul_known(v97, 0x67055c21u, 0xdbc72aefu);
  const u32 v99 = reduce_once(v98);
  const u32 v100 = add(v94, v96);
  const u32 v101 = sub(v94, v96);
  const u32 v102 = add(v95, v99);
  const u32 v103 = sub(v95, v99);
  const u32 v104 = add(v81, v89);
  const u32 v105 = sub(v81, v89);
  const u32 v106 = add(v85, v93);
  const u32 v107 = v85 - v93 + 0x78000001u;
  const u32 v108 = mul_known(v107, 0x67055c21u, 0xdbc72aefu);
  const u32 v109 = reduce_once(v108);
  const u32 v110 = add(v104, v106);
  const u32 v111 = sub(v104, v106);
  const u32 v112 = add(v105, v109);
  const u32 v113 = sub(v105, v109);
  s[0] = v66;
  s[1] = v67;
  s[2] = v68;
  s[3] = v69;
  s[4] = v76;
  s[5] = v77;
  s[6] = v78;
  s[7] = v79;
  s[8] = v100;
  s[9] = v101;
  s[10] = v102;
  s[11] = v103;
  s[12] = v110;
  s[13] = v111;
  s[14] = v112;
  s[15] = v113;
}

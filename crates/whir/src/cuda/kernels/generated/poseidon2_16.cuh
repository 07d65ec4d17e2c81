// Written by `cargo xtask kernels`; do not edit.
// Poseidon2 of width 16 over BabyBear, equal to Plonky3's `default_babybear_poseidon2_16`:
// 4 + 13 + 4 rounds on canonical words in Montgomery form. The loops over rounds stay rolled:
// 32 registers, and code that fits the instruction cache.
#pragma once

#include "field.cuh"

__constant__ u32 POSEIDON2_16_RC[141] = {
  0x5e4d6938u, 0x71385defu, 0x61ddbd3au, 0x1b941180u, 0x4d20d77du, 0x52478027u, 0x732e57c3u, 0x10e63112u,
  0x3c99be27u, 0x0221857au, 0x4bbe9ab7u, 0x32c46133u, 0x2f62cc76u, 0x37682266u, 0x1f3714e3u, 0x5f01dd7du,
  0x35678506u, 0x67da0d24u, 0x36b3008au, 0x5a6765ccu, 0x45c068bdu, 0x2ed4b9ecu, 0x249392d3u, 0x150a571cu,
  0x287549eau, 0x3bedb1b8u, 0x659e048eu, 0x46023d70u, 0x1e55a92du, 0x1f9c528fu, 0x4f1ad620u, 0x547fa880u,
  0x44c19b36u, 0x22c2f11au, 0x17b67671u, 0x55dddeb4u, 0x1b18a7edu, 0x0a66840eu, 0x0a3cd409u, 0x771e5548u,
  0x53aaba92u, 0x6bbfe070u, 0x1ad7c512u, 0x56f4fbf9u, 0x2ee93eacu, 0x3f67bc14u, 0x766f3f66u, 0x1cb5555cu,
  0x496b4856u, 0x4ee52289u, 0x0e351627u, 0x77f2fa2bu, 0x3d176cccu, 0x42103ad7u, 0x4c8a5ba9u, 0x242cfe16u,
  0x3ce22e52u, 0x2ae0610au, 0x2751c80bu, 0x2ddefdb7u, 0x3003796eu, 0x234c77ebu, 0x687881f7u, 0x278ad903u,
  0x0eee3c46u, 0x1f803700u, 0x57cbade6u, 0x3a3d3472u, 0x706866bdu, 0x413da073u, 0x08ca8f35u, 0x279652bbu,
  0x17c601dau, 0x140a84a1u, 0x6113337bu, 0x34f6e216u, 0x22f9b8b2u, 0x3b98331au, 0x1225b500u, 0x20f18724u,
  0x1add1eadu, 0x27c8bae0u, 0x67810938u, 0x4f2405e1u, 0x44bd103fu, 0x30ad7b47u, 0x4025183au, 0x7222068fu,
  0x6376b2e5u, 0x5165184au, 0x3a2811d0u, 0x3d7d5b9cu, 0x530c569du, 0x5caada1cu, 0x3d06627du, 0x5ffc6e6cu,
  0x14ba29f8u, 0x71d1c1e9u, 0x2c0fb8f7u, 0x198b65e1u, 0x25bcff06u, 0x07427c35u, 0x059b1122u, 0x519ea061u,
  0x4a81a536u, 0x06cf9aa9u, 0x1eb2ca04u, 0x02ec7cacu, 0x74f6c733u, 0x524ebfdeu, 0x6edd9d09u, 0x03db6b21u,
  0x0094e6fcu, 0x643ed13bu, 0x2a5eb829u, 0x3ccf7585u, 0x544a7136u, 0x5b49128fu, 0x0227bd55u, 0x2a88bdadu,
  0x055c4d17u, 0x6f822c4au, 0x179a43f2u, 0x42ec1895u, 0x68f3d82fu, 0x30dcf522u, 0x0806ab72u, 0x689d63dbu,
  0x011943f8u, 0x65709ccdu, 0x6a3c56e1u, 0x5871ed94u, 0x395e47bdu, 0x6eb895c4u, 0x0d422bd9u, 0x03c4b679u,
  0x1eb56ddeu, 0x505e67b5u, 0x3a05211eu, 0x5ed5c104u, 0x2a1275f1u,
};

// The linear layer of the external rounds.
__device__ __forceinline__ void poseidon2_16_external_linear(u32* s) {
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
  const u32 v16 = add(v0, v1);
  const u32 v17 = add(v2, v3);
  const u32 v18 = add(v16, v17);
  const u32 v19 = add(v18, v1);
  const u32 v20 = add(v18, v3);
  const u32 v21 = add(v2, v2);
  const u32 v22 = add(v0, v0);
  const u32 v23 = add(v19, v16);
  const u32 v24 = add(v19, v21);
  const u32 v25 = add(v20, v17);
  const u32 v26 = add(v20, v22);
  const u32 v27 = add(v4, v5);
  const u32 v28 = add(v6, v7);
  const u32 v29 = add(v27, v28);
  const u32 v30 = add(v29, v5);
  const u32 v31 = add(v29, v7);
  const u32 v32 = add(v6, v6);
  const u32 v33 = add(v4, v4);
  const u32 v34 = add(v30, v27);
  const u32 v35 = add(v30, v32);
  const u32 v36 = add(v31, v28);
  const u32 v37 = add(v31, v33);
  const u32 v38 = add(v8, v9);
  const u32 v39 = add(v10, v11);
  const u32 v40 = add(v38, v39);
  const u32 v41 = add(v40, v9);
  const u32 v42 = add(v40, v11);
  const u32 v43 = add(v10, v10);
  const u32 v44 = add(v8, v8);
  const u32 v45 = add(v41, v38);
  const u32 v46 = add(v41, v43);
  const u32 v47 = add(v42, v39);
  const u32 v48 = add(v42, v44);
  const u32 v49 = add(v12, v13);
  const u32 v50 = add(v14, v15);
  const u32 v51 = add(v49, v50);
  const u32 v52 = add(v51, v13);
  const u32 v53 = add(v51, v15);
  const u32 v54 = add(v14, v14);
  const u32 v55 = add(v12, v12);
  const u32 v56 = add(v52, v49);
  const u32 v57 = add(v52, v54);
  const u32 v58 = add(v53, v50);
  const u32 v59 = add(v53, v55);
  const u32 v60 = add(v23, v34);
  const u32 v61 = add(v45, v56);
  const u32 v62 = add(v60, v61);
  const u32 v63 = add(v23, v62);
  s[0] = v63;
  const u32 v64 = add(v34, v62);
  s[4] = v64;
  const u32 v65 = add(v45, v62);
  s[8] = v65;
  const u32 v66 = add(v56, v62);
  s[12] = v66;
  const u32 v67 = add(v24, v35);
  const u32 v68 = add(v46, v57);
  const u32 v69 = add(v67, v68);
  const u32 v70 = add(v24, v69);
  s[1] = v70;
  const u32 v71 = add(v35, v69);
  s[5] = v71;
  const u32 v72 = add(v46, v69);
  s[9] = v72;
  const u32 v73 = add(v57, v69);
  s[13] = v73;
  const u32 v74 = add(v25, v36);
  const u32 v75 = add(v47, v58);
  const u32 v76 = add(v74, v75);
  const u32 v77 = add(v25, v76);
  s[2] = v77;
  const u32 v78 = add(v36, v76);
  s[6] = v78;
  const u32 v79 = add(v47, v76);
  s[10] = v79;
  const u32 v80 = add(v58, v76);
  s[14] = v80;
  const u32 v81 = add(v26, v37);
  const u32 v82 = add(v48, v59);
  const u32 v83 = add(v81, v82);
  const u32 v84 = add(v26, v83);
  s[3] = v84;
  const u32 v85 = add(v37, v83);
  s[7] = v85;
  const u32 v86 = add(v48, v83);
  s[11] = v86;
  const u32 v87 = add(v59, v83);
  s[15] = v87;
}

// An external round with the constants from `first` on.
__device__ __forceinline__ void poseidon2_16_external_round(u32* s, u32 first) {
  const u32 v0 = s[0];
  const u32 v1 = POSEIDON2_16_RC[first + 0];
  const u32 v2 = add(v0, v1);
  const u32 v3 = mul_lazy(v2, v2);
  const u32 v4 = mul_lazy(v3, v2);
  const u32 v5 = mul_lazy(v3, v3);
  const u32 v6 = reduce_once(v5);
  const u32 v7 = mul_lazy(v4, v6);
  const u32 v8 = reduce_once(v7);
  const u32 v9 = s[1];
  const u32 v10 = POSEIDON2_16_RC[first + 1];
  const u32 v11 = add(v9, v10);
  const u32 v12 = mul_lazy(v11, v11);
  const u32 v13 = mul_lazy(v12, v11);
  const u32 v14 = mul_lazy(v12, v12);
  const u32 v15 = reduce_once(v14);
  const u32 v16 = mul_lazy(v13, v15);
  const u32 v17 = reduce_once(v16);
  const u32 v18 = s[2];
  const u32 v19 = POSEIDON2_16_RC[first + 2];
  const u32 v20 = add(v18, v19);
  const u32 v21 = mul_lazy(v20, v20);
  const u32 v22 = mul_lazy(v21, v20);
  const u32 v23 = mul_lazy(v21, v21);
  const u32 v24 = reduce_once(v23);
  const u32 v25 = mul_lazy(v22, v24);
  const u32 v26 = reduce_once(v25);
  const u32 v27 = s[3];
  const u32 v28 = POSEIDON2_16_RC[first + 3];
  const u32 v29 = add(v27, v28);
  const u32 v30 = mul_lazy(v29, v29);
  const u32 v31 = mul_lazy(v30, v29);
  const u32 v32 = mul_lazy(v30, v30);
  const u32 v33 = reduce_once(v32);
  const u32 v34 = mul_lazy(v31, v33);
  const u32 v35 = reduce_once(v34);
  const u32 v36 = s[4];
  const u32 v37 = POSEIDON2_16_RC[first + 4];
  const u32 v38 = add(v36, v37);
  const u32 v39 = mul_lazy(v38, v38);
  const u32 v40 = mul_lazy(v39, v38);
  const u32 v41 = mul_lazy(v39, v39);
  const u32 v42 = reduce_once(v41);
  const u32 v43 = mul_lazy(v40, v42);
  const u32 v44 = reduce_once(v43);
  const u32 v45 = s[5];
  const u32 v46 = POSEIDON2_16_RC[first + 5];
  const u32 v47 = add(v45, v46);
  const u32 v48 = mul_lazy(v47, v47);
  const u32 v49 = mul_lazy(v48, v47);
  const u32 v50 = mul_lazy(v48, v48);
  const u32 v51 = reduce_once(v50);
  const u32 v52 = mul_lazy(v49, v51);
  const u32 v53 = reduce_once(v52);
  const u32 v54 = s[6];
  const u32 v55 = POSEIDON2_16_RC[first + 6];
  const u32 v56 = add(v54, v55);
  const u32 v57 = mul_lazy(v56, v56);
  const u32 v58 = mul_lazy(v57, v56);
  const u32 v59 = mul_lazy(v57, v57);
  const u32 v60 = reduce_once(v59);
  const u32 v61 = mul_lazy(v58, v60);
  const u32 v62 = reduce_once(v61);
  const u32 v63 = s[7];
  const u32 v64 = POSEIDON2_16_RC[first + 7];
  const u32 v65 = add(v63, v64);
  const u32 v66 = mul_lazy(v65, v65);
  const u32 v67 = mul_lazy(v66, v65);
  const u32 v68 = mul_lazy(v66, v66);
  const u32 v69 = reduce_once(v68);
  const u32 v70 = mul_lazy(v67, v69);
  const u32 v71 = reduce_once(v70);
  const u32 v72 = s[8];
  const u32 v73 = POSEIDON2_16_RC[first + 8];
  const u32 v74 = add(v72, v73);
  const u32 v75 = mul_lazy(v74, v74);
  const u32 v76 = mul_lazy(v75, v74);
  const u32 v77 = mul_lazy(v75, v75);
  const u32 v78 = reduce_once(v77);
  const u32 v79 = mul_lazy(v76, v78);
  const u32 v80 = reduce_once(v79);
  const u32 v81 = s[9];
  const u32 v82 = POSEIDON2_16_RC[first + 9];
  const u32 v83 = add(v81, v82);
  const u32 v84 = mul_lazy(v83, v83);
  const u32 v85 = mul_lazy(v84, v83);
  const u32 v86 = mul_lazy(v84, v84);
  const u32 v87 = reduce_once(v86);
  const u32 v88 = mul_lazy(v85, v87);
  const u32 v89 = reduce_once(v88);
  const u32 v90 = s[10];
  const u32 v91 = POSEIDON2_16_RC[first + 10];
  const u32 v92 = add(v90, v91);
  const u32 v93 = mul_lazy(v92, v92);
  const u32 v94 = mul_lazy(v93, v92);
  const u32 v95 = mul_lazy(v93, v93);
  const u32 v96 = reduce_once(v95);
  const u32 v97 = mul_lazy(v94, v96);
  const u32 v98 = reduce_once(v97);
  const u32 v99 = s[11];
  const u32 v100 = POSEIDON2_16_RC[first + 11];
  const u32 v101 = add(v99, v100);
  const u32 v102 = mul_lazy(v101, v101);
  const u32 v103 = mul_lazy(v102, v101);
  const u32 v104 = mul_lazy(v102, v102);
  const u32 v105 = reduce_once(v104);
  const u32 v106 = mul_lazy(v103, v105);
  const u32 v107 = reduce_once(v106);
  const u32 v108 = s[12];
  const u32 v109 = POSEIDON2_16_RC[first + 12];
  const u32 v110 = add(v108, v109);
  const u32 v111 = mul_lazy(v110, v110);
  const u32 v112 = mul_lazy(v111, v110);
  const u32 v113 = mul_lazy(v111, v111);
  const u32 v114 = reduce_once(v113);
  const u32 v115 = mul_lazy(v112, v114);
  const u32 v116 = reduce_once(v115);
  const u32 v117 = s[13];
  const u32 v118 = POSEIDON2_16_RC[first + 13];
  const u32 v119 = add(v117, v118);
  const u32 v120 = mul_lazy(v119, v119);
  const u32 v121 = mul_lazy(v120, v119);
  const u32 v122 = mul_lazy(v120, v120);
  const u32 v123 = reduce_once(v122);
  const u32 v124 = mul_lazy(v121, v123);
  const u32 v125 = reduce_once(v124);
  const u32 v126 = s[14];
  const u32 v127 = POSEIDON2_16_RC[first + 14];
  const u32 v128 = add(v126, v127);
  const u32 v129 = mul_lazy(v128, v128);
  const u32 v130 = mul_lazy(v129, v128);
  const u32 v131 = mul_lazy(v129, v129);
  const u32 v132 = reduce_once(v131);
  const u32 v133 = mul_lazy(v130, v132);
  const u32 v134 = reduce_once(v133);
  const u32 v135 = s[15];
  const u32 v136 = POSEIDON2_16_RC[first + 15];
  const u32 v137 = add(v135, v136);
  const u32 v138 = mul_lazy(v137, v137);
  const u32 v139 = mul_lazy(v138, v137);
  const u32 v140 = mul_lazy(v138, v138);
  const u32 v141 = reduce_once(v140);
  const u32 v142 = mul_lazy(v139, v141);
  const u32 v143 = reduce_once(v142);
  const u32 v144 = add(v8, v17);
  const u32 v145 = add(v26, v35);
  const u32 v146 = add(v144, v145);
  const u32 v147 = add(v146, v17);
  const u32 v148 = add(v146, v35);
  const u32 v149 = add(v26, v26);
  const u32 v150 = add(v8, v8);
  const u32 v151 = add(v147, v144);
  const u32 v152 = add(v147, v149);
  const u32 v153 = add(v148, v145);
  const u32 v154 = add(v148, v150);
  const u32 v155 = add(v44, v53);
  const u32 v156 = add(v62, v71);
  const u32 v157 = add(v155, v156);
  const u32 v158 = add(v157, v53);
  const u32 v159 = add(v157, v71);
  const u32 v160 = add(v62, v62);
  const u32 v161 = add(v44, v44);
  const u32 v162 = add(v158, v155);
  const u32 v163 = add(v158, v160);
  const u32 v164 = add(v159, v156);
  const u32 v165 = add(v159, v161);
  const u32 v166 = add(v80, v89);
  const u32 v167 = add(v98, v107);
  const u32 v168 = add(v166, v167);
  const u32 v169 = add(v168, v89);
  const u32 v170 = add(v168, v107);
  const u32 v171 = add(v98, v98);
  const u32 v172 = add(v80, v80);
  const u32 v173 = add(v169, v166);
  const u32 v174 = add(v169, v171);
  const u32 v175 = add(v170, v167);
  const u32 v176 = add(v170, v172);
  const u32 v177 = add(v116, v125);
  const u32 v178 = add(v134, v143);
  const u32 v179 = add(v177, v178);
  const u32 v180 = add(v179, v125);
  const u32 v181 = add(v179, v143);
  const u32 v182 = add(v134, v134);
  const u32 v183 = add(v116, v116);
  const u32 v184 = add(v180, v177);
  const u32 v185 = add(v180, v182);
  const u32 v186 = add(v181, v178);
  const u32 v187 = add(v181, v183);
  const u32 v188 = add(v151, v162);
  const u32 v189 = add(v173, v184);
  const u32 v190 = add(v188, v189);
  const u32 v191 = add(v151, v190);
  s[0] = v191;
  const u32 v192 = add(v162, v190);
  s[4] = v192;
  const u32 v193 = add(v173, v190);
  s[8] = v193;
  const u32 v194 = add(v184, v190);
  s[12] = v194;
  const u32 v195 = add(v152, v163);
  const u32 v196 = add(v174, v185);
  const u32 v197 = add(v195, v196);
  const u32 v198 = add(v152, v197);
  s[1] = v198;
  const u32 v199 = add(v163, v197);
  s[5] = v199;
  const u32 v200 = add(v174, v197);
  s[9] = v200;
  const u32 v201 = add(v185, v197);
  s[13] = v201;
  const u32 v202 = add(v153, v164);
  const u32 v203 = add(v175, v186);
  const u32 v204 = add(v202, v203);
  const u32 v205 = add(v153, v204);
  s[2] = v205;
  const u32 v206 = add(v164, v204);
  s[6] = v206;
  const u32 v207 = add(v175, v204);
  s[10] = v207;
  const u32 v208 = add(v186, v204);
  s[14] = v208;
  const u32 v209 = add(v154, v165);
  const u32 v210 = add(v176, v187);
  const u32 v211 = add(v209, v210);
  const u32 v212 = add(v154, v211);
  s[3] = v212;
  const u32 v213 = add(v165, v211);
  s[7] = v213;
  const u32 v214 = add(v176, v211);
  s[11] = v214;
  const u32 v215 = add(v187, v211);
  s[15] = v215;
}

// Brings the state into the form of the internal rounds: sums and differences of the elements with opposite
// entries of the diagonal.
__device__ __forceinline__ void poseidon2_16_pair(u32* s) {
  const u32 v0 = s[3];
  const u32 v1 = s[6];
  const u32 v2 = add(v0, v1);
  const u32 v3 = halve(v2);
  const u32 v4 = sub(v0, v1);
  const u32 v5 = div_2exp<2>(v4);
  s[3] = v3;
  s[6] = v5;
  const u32 v6 = s[4];
  const u32 v7 = s[7];
  const u32 v8 = add(v6, v7);
  const u32 v9 = halve(v8);
  const u32 v10 = sub(v6, v7);
  const u32 v11 = mul_known(v10, 0x3c000002u, 0x80000003u);
  const u32 v12 = reduce_once(v11);
  s[4] = v9;
  s[7] = v12;
  const u32 v13 = s[5];
  const u32 v14 = s[8];
  const u32 v15 = add(v13, v14);
  const u32 v16 = halve(v15);
  const u32 v17 = sub(v13, v14);
  const u32 v18 = add(v17, v17);
  s[5] = v16;
  s[8] = v18;
  const u32 v19 = s[9];
  const u32 v20 = s[13];
  const u32 v21 = add(v19, v20);
  const u32 v22 = halve(v21);
  const u32 v23 = sub(v19, v20);
  const u32 v24 = div_2exp<9>(v23);
  s[9] = v22;
  s[13] = v24;
  const u32 v25 = s[12];
  const u32 v26 = s[15];
  const u32 v27 = add(v25, v26);
  const u32 v28 = halve(v27);
  const u32 v29 = sub(v25, v26);
  const u32 v30 = mul_known(v29, 0x3bfffff9u, 0x7ffffff0u);
  const u32 v31 = reduce_once(v30);
  s[12] = v28;
  s[15] = v31;
}

// Brings it back.
__device__ __forceinline__ void poseidon2_16_unpair(u32* s) {
  const u32 v0 = s[3];
  const u32 v1 = s[6];
  const u32 v2 = add(v1, v1);
  const u32 v3 = add(v0, v2);
  const u32 v4 = sub(v0, v2);
  s[3] = v3;
  s[6] = v4;
  const u32 v5 = s[4];
  const u32 v6 = s[7];
  const u32 v7 = mul_known(v6, 0x50000001u, 0xaaaaaaabu);
  const u32 v8 = reduce_once(v7);
  const u32 v9 = add(v5, v8);
  const u32 v10 = sub(v5, v8);
  s[4] = v9;
  s[7] = v10;
  const u32 v11 = s[5];
  const u32 v12 = s[8];
  const u32 v13 = div_2exp<2>(v12);
  const u32 v14 = add(v11, v13);
  const u32 v15 = sub(v11, v13);
  s[5] = v14;
  s[8] = v15;
  const u32 v16 = s[9];
  const u32 v17 = s[13];
  const u32 v18 = mul_known(v17, 0x00000100u, 0x00000222u);
  const u32 v19 = reduce_once(v18);
  const u32 v20 = add(v16, v19);
  const u32 v21 = sub(v16, v19);
  s[9] = v20;
  s[13] = v21;
  const u32 v22 = s[12];
  const u32 v23 = s[15];
  const u32 v24 = mul_known(v23, 0x08000000u, 0x11111110u);
  const u32 v25 = reduce_once(v24);
  const u32 v26 = add(v22, v25);
  const u32 v27 = sub(v22, v25);
  s[12] = v26;
  s[15] = v27;
}

// An internal round with the constant at `index`.
__device__ __forceinline__ void poseidon2_16_internal_round(u32* s, u32 index) {
  const u32 v0 = s[0];
  const u32 v1 = POSEIDON2_16_RC[index];
  const u32 v2 = add(v0, v1);
  const u32 v3 = mul_lazy(v2, v2);
  const u32 v4 = mul_lazy(v3, v2);
  const u32 v5 = mul_lazy(v3, v3);
  const u32 v6 = reduce_once(v5);
  const u32 v7 = mul_lazy(v4, v6);
  const u32 v8 = reduce_once(v7);
  const u32 v9 = s[3];
  const u32 v10 = s[6];
  const u32 v11 = s[4];
  const u32 v12 = s[7];
  const u32 v13 = s[5];
  const u32 v14 = s[8];
  const u32 v15 = s[9];
  const u32 v16 = s[13];
  const u32 v17 = s[12];
  const u32 v18 = s[15];
  const u32 v19 = s[1];
  const u32 v20 = s[2];
  const u32 v21 = s[10];
  const u32 v22 = s[11];
  const u32 v23 = s[14];
  const u32 v24 = add(v9, v11);
  const u32 v25 = add(v13, v15);
  const u32 v26 = add(v24, v25);
  const u32 v27 = add(v26, v17);
  const u32 v28 = add(v27, v27);
  const u32 v29 = add(v19, v20);
  const u32 v30 = add(v21, v22);
  const u32 v31 = add(v29, v30);
  const u32 v32 = add(v31, v23);
  const u32 v33 = add(v28, v32);
  const u32 v34 = add(v33, v8);
  const u32 v35 = sub(v33, v8);
  s[0] = v35;
  const u32 v36 = add(v10, v34);
  s[3] = v36;
  const u32 v37 = div_2exp<2>(v9);
  s[6] = v37;
  const u32 v38 = add(v12, v34);
  s[4] = v38;
  const u32 v39 = mul_known(v11, 0x00000009u, 0x00000013u);
  const u32 v40 = reduce_once(v39);
  s[7] = v40;
  const u32 v41 = add(v14, v34);
  s[5] = v41;
  const u32 v42 = mul_known(v13, 0x00000010u, 0x00000022u);
  const u32 v43 = reduce_once(v42);
  s[8] = v43;
  const u32 v44 = add(v16, v34);
  s[9] = v44;
  const u32 v45 = div_2exp<16>(v15);
  s[13] = v45;
  const u32 v46 = add(v18, v34);
  s[12] = v46;
  const u32 v47 = mul_known(v17, 0x000000e1u, 0x000001dfu);
  const u32 v48 = reduce_once(v47);
  s[15] = v48;
  const u32 v49 = add(v19, v34);
  s[1] = v49;
  const u32 v50 = add(v20, v20);
  const u32 v51 = add(v50, v34);
  s[2] = v51;
  const u32 v52 = div_2exp<2>(v21);
  const u32 v53 = add(v52, v34);
  s[10] = v53;
  const u32 v54 = div_2exp<3>(v22);
  const u32 v55 = add(v54, v34);
  s[11] = v55;
  const u32 v56 = div_2exp<4>(v23);
  const u32 v57 = sub(v34, v56);
  s[14] = v57;
}

// The permutation.
__device__ __forceinline__ void poseidon2_16_permute(u32* s) {
  poseidon2_16_external_linear(s);
#pragma unroll 1
  for (u32 r = 0; r < 4; r++) {
    poseidon2_16_external_round(s, 16 * r);
  }
  poseidon2_16_pair(s);
#pragma unroll 1
  for (u32 r = 0; r < 13; r++) {
    poseidon2_16_internal_round(s, 64 + r);
  }
  poseidon2_16_unpair(s);
#pragma unroll 1
  for (u32 r = 0; r < 4; r++) {
    poseidon2_16_external_round(s, 77 + 16 * r);
  }
}

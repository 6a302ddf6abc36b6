// cuBLAS, as far as the crate calls it: products column by column.
#include <stdint.h>

#include <vector>

#include "half.h"

namespace {

template <class T> struct Factor {
    const T *values;
    bool turned;
    int stride;
};

// The factor with its sums along whole columns: `across` columns of `along` numbers.
template <class T, class S> std::vector<T> lined_up(Factor<S> it, bool along_columns, int across, int along, T (*read)(S)) {
    std::vector<T> out((size_t)across * along);
    for (int j = 0; j < across; j++) {
        for (int i = 0; i < along; i++) {
            size_t at = along_columns ? (size_t)j * it.stride + i : (size_t)i * it.stride + j;
            out[(size_t)j * along + i] = read(it.values[at]);
        }
    }
    return out;
}

template <class T, class S>
void multiply(int m, int n, int k, T alpha, Factor<S> a, Factor<S> b, T beta, T *c, int stride, T (*read)(S)) {
    std::vector<T> left = lined_up(a, a.turned, m, k, read), right = lined_up(b, !b.turned, n, k, read);
    for (int j = 0; j < n; j++) {
        const T *y = &right[(size_t)j * k];
        for (int i = 0; i < m; i++) {
            const T *x = &left[(size_t)i * k];
            T sum = 0;
            for (int l = 0; l < k; l++) sum += x[l] * y[l];
            T *out = c + (size_t)j * stride + i;
            *out = alpha * sum + (beta == 0 ? 0 : beta * *out);
        }
    }
}

template <class T> T same(T value) { return value; }

enum { TURNED = 1, SINGLE = 0, HALF = 2, SUPPORTED = 0, NOT_SUPPORTED = 15, SUMS_ARE_SINGLE = 16 };

struct Handle {
    int mode = 0;
};

}  // namespace

extern "C" {

int cublasCreate_v2(void **handle) {
    *handle = new Handle;
    return 0;
}

int cublasDestroy_v2(void *handle) {
    delete (Handle *)handle;
    return 0;
}

int cublasSetMathMode(void *handle, int mode) {
    ((Handle *)handle)->mode = mode;
    return 0;
}

int cublasSetStream_v2(void *, void *) { return 0; }

int cublasSgemm_v2(void *, int of_a, int of_b, int m, int n, int k, const float *alpha, const float *a, int lda,
                   const float *b, int ldb, const float *beta, float *c, int ldc) {
    Factor<float> left{a, of_a == TURNED, lda}, right{b, of_b == TURNED, ldb};
    multiply<float, float>(m, n, k, *alpha, left, right, *beta, c, ldc, same<float>);
    return SUPPORTED;
}

int cublasDgemm_v2(void *, int of_a, int of_b, int m, int n, int k, const double *alpha, const double *a, int lda,
                   const double *b, int ldb, const double *beta, double *c, int ldc) {
    Factor<double> left{a, of_a == TURNED, lda}, right{b, of_b == TURNED, ldb};
    multiply<double, double>(m, n, k, *alpha, left, right, *beta, c, ldc, same<double>);
    return SUPPORTED;
}

int cublasGemmEx(void *handle, int of_a, int of_b, int m, int n, int k, const void *alpha, const void *a, int kind_a,
                 int lda, const void *b, int kind_b, int ldb, const void *beta, void *c, int kind_c, int ldc, int, int) {
    if (kind_a != HALF || kind_b != HALF || (kind_c != SINGLE && kind_c != HALF)) return NOT_SUPPORTED;
    Factor<uint16_t> left{(const uint16_t *)a, of_a == TURNED, lda}, right{(const uint16_t *)b, of_b == TURNED, ldb};
    float one = *(const float *)alpha, zero = *(const float *)beta;
    if (kind_c == SINGLE) {
        multiply<float, uint16_t>(m, n, k, one, left, right, zero, (float *)c, ldc, of_half);
        return SUPPORTED;
    }
    // Unless it is told not to, cuBLAS may take sums in several parts and round each to half precision, which no error
    // bound of this crate knows.
    if (zero != 0 || !(((Handle *)handle)->mode & SUMS_ARE_SINGLE)) return NOT_SUPPORTED;
    std::vector<float> products((size_t)m * n);
    multiply<float, uint16_t>(m, n, k, one, left, right, 0, products.data(), m, of_half);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) ((uint16_t *)c)[(size_t)j * ldc + i] = half_of(products[(size_t)j * m + i]);
    }
    return SUPPORTED;
}

}

import type { Secp256k1 } from './curve.ts';
import { nativeCurve } from './native-curve.ts';
import { wasmCurve } from './wasm-curve.ts';

/**
 * libsecp256k1 as machine code, where the package has it for this system. Otherwise as WebAssembly, which is slower and
 * runs everywhere.
 */
export const curve: Secp256k1 = nativeCurve() ?? wasmCurve();

import type { Secp256k1 } from './curve.ts';
import { nativeCurve } from './native-curve.ts';
import { wasmCurve } from './wasm-curve.ts';

/** As machine code where the package brings it for this system, else as WebAssembly, which is slower and everywhere. */
export const curve: Secp256k1 = nativeCurve() ?? wasmCurve();

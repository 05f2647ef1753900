import type { Curve } from './curve.ts';
import { nativeCurve } from './native-curve.ts';
import { wasmCurve } from './wasm-curve.ts';

/**
 * As machine code where the package brings it for this system, else as WebAssembly: that takes three to four times as
 * long, and is everywhere.
 */
export const curve: Curve = nativeCurve() ?? wasmCurve();

import type { Fields } from './params.ts';
import type { View } from './view.ts';

/** Answers one call, or throws an `RpcError`. */
export type Method = (view: View, fields: Fields) => unknown;
export type Methods = Readonly<Record<string, Method>>;

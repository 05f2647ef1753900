import type { Fields } from './params.ts';
import type { View } from './view.ts';

/** Answers one call; what it throws is an `RpcError`. */
export type Method = (view: View, fields: Fields) => unknown;
export type Methods = Readonly<Record<string, Method>>;

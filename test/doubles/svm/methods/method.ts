import type { NodeView } from '../node-view.ts';
import type { Params } from '../params.ts';

/** Answers one call; what it throws is an `RpcError`. */
export type Method = (view: NodeView, params: Params) => unknown;
export type Methods = Readonly<Record<string, Method>>;

import type { Json } from '../domain/json/json.ts';
import { EndpointUnfit, type ParseAnswer, type ReadOne, type RpcClient } from '../egress/rpc/rpc-client.ts';

/** How long an endpoint of another chain is left alone before it is asked once more. */
const STRAY_MS = 60_000;

/** How a node is asked which chain it serves. */
export interface ChainQuestion<T extends bigint | string> {
  method: string;
  /** Absent: an empty list. */
  params?: Json;
  served: ParseAnswer<T>;
  /** The chain that an endpoint has to serve. */
  chain: T;
}

/**
 * Returns a client with the same endpoints, of which only those that serve our chain count. An endpoint can be moved to
 * another chain at any time, and the account's figures there look real. So every read also asks the endpoint which
 * chain it serves, and an offer to all endpoints leaves out those that serve another chain. An offer to one endpoint
 * goes out unchecked, because all endpoints are asked what became of it.
 */
export function onlyServing<T extends bigint | string>(rpc: RpcClient, question: ChainQuestion<T>): RpcClient {
  const { method, params = [], chain, served } = question;
  const check = (read: ReadOne) =>
    read(method, params, (answer) => {
      const other = served(answer);
      if (other !== chain) throw new EndpointUnfit(`it serves chain ${other}, not ${chain}`, { pauseMs: STRAY_MS });
    });
  const checked = async <R>(read: ReadOne, use: (read: ReadOne) => Promise<R>) => {
    const [result] = await Promise.all([use(read), check(read)]);
    return result;
  };
  return {
    ...rpc,
    onOne: (use, options) => rpc.onOne((read) => checked(read, use), options),
    onOthers: (read, use) => rpc.onOthers(read, (other) => checked(other, use)),
    onAll: (use) => rpc.onAll((read) => checked(read, use)),
    offerEach: (offered, bytes) => rpc.offerEach(offered, bytes, check),
    each: (asked, given) => rpc.each(asked, given, check),
  };
}

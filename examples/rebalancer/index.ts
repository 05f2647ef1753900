import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  relayer: string;
  vault: string;
  /** From how much drift on it rebalances, in hundredths of a percent. */
  drift: number;
  /** In wei. While gas is dearer, it waits, unless the drift is more than twice its bound. */
  most_gas_price: string;
}

/** The selectors of `drift()` and `rebalance()`. */
const DRIFT = '0xd3b33b63';
const REBALANCE = '0x7d7c2a1c';

/** Looks at a vault, and rebalances it when it has drifted too far. */
export async function handler({ api, config }: PluginContext) {
  const { relayer, vault, drift: bound, most_gas_price: most } = config as Settings;
  const account = api.useRelayer(relayer);
  const ask = async (method: string, params: unknown[]) => {
    const { result, error } = await account.rpc({ method, params });
    if (typeof result === 'string') return BigInt(result);
    throw pluginError(`${method} has no answer`, { code: 'NO_ANSWER', status: 503, details: error });
  };
  const [drift, price] = await Promise.all([
    ask('eth_call', [{ to: vault, data: DRIFT }, 'latest']),
    ask('eth_gasPrice', []),
  ]);
  const seen = { drift: Number(drift), gas_price: price.toString() };
  if (drift <= BigInt(bound)) return { ...seen, rebalanced: false, because: 'it is near enough' };
  if (price > BigInt(most) && drift <= 2n * BigInt(bound))
    return { ...seen, rebalanced: false, because: 'gas is dear' };
  const sent = await account.sendTransaction({ to: vault, value: 0, data: REBALANCE, speed: 'average' });
  // The next call is skipped while this one waits. So it never reads a vault that a transaction is about to change.
  const { status, hash } = await sent.wait({ interval: 1000, timeout: 240_000 });
  if (status === 'mined' || status === 'confirmed') return { ...seen, rebalanced: true, hash };
  throw pluginError(`the transaction is ${status}`, { code: 'NOT_REBALANCED', status: 502, details: { id: sent.id } });
}

import { type PluginContext, pluginError, Speed } from 'isolayer';

interface Settings {
  relayer: string;
  /** The gas price below which the plugin sends, in wei. */
  most_gas_price: string;
}

/** Sends a transaction while gas is cheap. Otherwise answers that the caller has to come back later. */
export async function handler({ api, params, config }: PluginContext) {
  const { relayer: id, most_gas_price: most } = config as Settings;
  const { to, data = '0x', value = '0' } = (params ?? {}) as { to?: string; data?: string; value?: string };
  if (to === undefined) throw pluginError('to is missing', { code: 'INVALID_PARAMS', status: 400 });

  const relayer = api.useRelayer(id);
  const answer = await relayer.rpc({ method: 'eth_gasPrice', params: [] });
  if (answer.error !== undefined || typeof answer.result !== 'string') {
    throw pluginError('no node tells the gas price', { code: 'NO_GAS_PRICE', status: 503, details: answer.error });
  }
  const price = BigInt(answer.result);
  if (price > BigInt(most)) {
    const details = { gas_price: price.toString(), most };
    throw pluginError('gas is too dear', { code: 'GAS_TOO_DEAR', status: 409, details });
  }
  const sent = await relayer.sendTransaction({ to, data, value, speed: Speed.AVERAGE });
  return { id: sent.id, gas_price: price.toString() };
}

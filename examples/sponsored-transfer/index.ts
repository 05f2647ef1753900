import { type PluginContext, pluginError, Speed } from 'isolayer';

interface Settings {
  relayer: string;
  /** The most that one receiver gets within a day, in wei. */
  allowance: string;
}

const DAY_SEC = 86_400;

/** Sends a receiver some of the relayer's money, up to the receiver's daily allowance. */
export async function handler({ api, kv, params, config }: PluginContext) {
  const { relayer, allowance } = config as Settings;
  const { to, value } = (params ?? {}) as { to?: unknown; value?: unknown };
  if (typeof to !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(to)) throw invalid('to', 'an address');
  if (typeof value !== 'string' || !/^[1-9]\d{0,30}$/.test(value)) throw invalid('value', 'wei, as digits in quotes');

  const key = `spent:${to.toLowerCase()}`;
  const sent = await kv.withLock(key, async () => {
    const spent = BigInt((await kv.get<string>(key)) ?? '0') + BigInt(value);
    if (spent > BigInt(allowance)) {
      throw pluginError('the allowance of the day is spent', { code: 'ALLOWANCE_SPENT', status: 403, details: { to } });
    }
    // Stores the sum before it sends. If sending fails, the receiver loses a part of the day's allowance. In the other
    // order, a failure to store would cost the relayer money.
    await kv.set(key, spent.toString(), { ttlSec: DAY_SEC });
    return await api.useRelayer(relayer).sendTransaction({ to, value, speed: Speed.FAST });
  });
  if (sent === null) throw pluginError('another transfer to it is on its way', { code: 'BUSY', status: 409 });
  console.info(`accepted as ${sent.id}`);
  const { status, hash } = await sent.wait({ interval: 1000, timeout: 60_000 });
  return { id: sent.id, status, hash };
}

function invalid(field: string, what: string) {
  return pluginError(`${field} has to be ${what}`, { code: 'INVALID_PARAMS', status: 400, details: { field } });
}

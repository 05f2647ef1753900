import { type PluginContext, pluginError, Speed } from 'isolayer';

interface Settings {
  relayer: string;
  /** What one receiver gets within a day at most, in wei. */
  allowance: string;
}

const DAY_SEC = 86_400;

/** Sends a receiver some of the relayer's money, as long as its allowance of the day lasts. */
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
    // Noted first: what was noted and not sent costs the receiver a day, the other way round it would cost us money.
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

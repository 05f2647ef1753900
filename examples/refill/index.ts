import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  /** The relayer that pays. */
  treasury: string;
  /** The relayers that are filled up to `up_to` when they have less than `below`. In wei. */
  relayers: Record<string, { below: string; up_to: string }>;
}

/** Fills up relayers that run low, from a treasury relayer. */
export async function handler({ api, kv, config }: PluginContext) {
  const { treasury, relayers } = config as Settings;
  const filled: Record<string, string> = {};
  for (const [id, { below, up_to: most }] of Object.entries(relayers)) {
    const hash = await kv.withLock(
      `refill:${id}`,
      async () => {
        const account = api.useRelayer(id);
        const [{ balance }, { address }] = await Promise.all([account.getRelayerStatus(), account.getRelayer()]);
        if (balance === null || BigInt(balance) >= BigInt(below)) return null;
        const value = (BigInt(most) - BigInt(balance)).toString();
        const sent = await api.useRelayer(treasury).sendTransaction({ to: address, value, speed: 'fast' });
        // Under the lock until it is in a block: a call before would see the old balance, and pay again.
        const { status, hash: minedAs } = await sent.wait({ interval: 1000, timeout: 240_000 });
        if (status === 'mined' || status === 'confirmed') return minedAs;
        throw pluginError(`the refill of ${id} is ${status}`, {
          code: 'NOT_FILLED',
          status: 502,
          details: { id: sent.id },
        });
      },
      { ttlSec: 300, onBusy: 'skip' },
    );
    if (typeof hash === 'string') filled[id] = hash;
  }
  return { filled };
}

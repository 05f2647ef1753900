import { type PluginContext, pluginError } from 'isolayer';

/** Counts calls by name. Two calls at the same time are counted as two. */
export async function handler({ kv, params }: PluginContext) {
  const { name = 'all' } = (params ?? {}) as { name?: unknown };
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    throw pluginError('name has letters, digits, - and _', { code: 'INVALID_NAME', status: 400 });
  }
  const key = `count:${name}`;
  const count = await kv.withLock(
    key,
    async () => {
      const next = ((await kv.get<number>(key)) ?? 0) + 1;
      await kv.set(key, next);
      return next;
    },
    { ttlSec: 5, onBusy: 'skip' },
  );
  // `withLock` does not wait for a lock that another call holds. The caller decides whether to try again.
  if (count === null) throw pluginError('another call counts right now', { code: 'BUSY', status: 409 });
  return { name, count };
}

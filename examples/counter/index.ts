import { type PluginContext, pluginError } from 'isolayer';

/** Counts calls by name; two calls at once never count as one. */
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
  // A lock that is held is not waited for: the caller decides whether to come back.
  if (count === null) throw pluginError('another call counts right now', { code: 'BUSY', status: 409 });
  return { name, count };
}

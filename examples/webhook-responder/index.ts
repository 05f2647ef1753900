import { createHmac, timingSafeEqual } from 'node:crypto';
import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  relayer: string;
  /** The contract to call on an alert. */
  contract: string;
  selector: string;
}

const SEEN_SEC = 86_400;

/** Calls a contract when a signed alert arrives. It calls once for each alert, however often the alert is delivered. */
export async function handler({ api, kv, params, headers, config }: PluginContext) {
  const { payload } = (params ?? {}) as { payload?: unknown };
  if (typeof payload !== 'string' || !isSigned(payload, headers['x-signature']?.[0])) {
    throw pluginError('the signature does not fit', { code: 'BAD_SIGNATURE', status: 401 });
  }
  const alert = JSON.parse(payload) as { id: string; severity: string };
  if (alert.severity !== 'critical') return { ignored: alert.id };

  const { relayer, contract, selector } = config as Settings;
  const key = `alert:${alert.id}`;
  const known = await kv.get<string>(key);
  if (known !== null) return { id: known, repeated: true };
  const sent = await api.useRelayer(relayer).sendTransaction({ to: contract, value: 0, data: selector });
  await kv.set(key, sent.id, { ttlSec: SEEN_SEC });
  return { id: sent.id, repeated: false };
}

function isSigned(payload: string, signature = ''): boolean {
  const secret = process.env['WEBHOOK_SECRET'];
  if (secret === undefined) throw pluginError('WEBHOOK_SECRET is not set', { code: 'NOT_CONFIGURED', status: 500 });
  const expected = createHmac('sha256', secret).update(payload).digest('hex');
  return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
}
